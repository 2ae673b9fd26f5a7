//go:build unix

package speed

import (
	"syscall"
	"time"
)

// processorTime is what the process has used so far, in user and kernel mode.
// Unlike the wall clock it hardly sees the machine's other load.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
