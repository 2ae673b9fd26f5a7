//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package speedtester

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock keeps others off a campaign's state file until unlock is called or the
// process ends, however it ends. It returns ErrLocked if somebody else has it. The
// lock is a file beside the state, which is itself replaced at each step; it is
// left there.
func Lock(state string) (unlock func(), err error) {
	f, err := os.OpenFile(state+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot keep others off the campaign's state: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("cannot keep others off the campaign's state: %w", err)
}
