package kernelpath

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// namespace is a network namespace without a name, which ends with the last
// socket, device or file that is in it.
type namespace struct{ file *os.File }

// onThread runs f on a thread of its own, which ends with it, and whatever f
// did to it.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked
		done <- f()
	}()
	return <-done
}

func newNamespace() (ns *namespace, err error) {
	err = onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("%w: a network namespace: %w", ErrUnavailable, err)
		}
		file, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		ns = &namespace{file}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := ns.do(settings); err != nil {
		ns.file.Close()
		return nil, err
	}
	return ns, nil
}

// do runs f on a thread that is in the namespace: sockets and devices that f
// makes are too, and stay.
func (ns *namespace) do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(ns.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("kernelpath: entering a namespace: %w", err)
		}
		return f()
	})
}

// settings are the kernel's for a new namespace. Connections start as if nobody
// had connected before, and may fill 500 Mbit/s over a geostationary satellite:
// the kernel's own limit of 4 MiB to send would do so up to 120 Mbit/s.
func settings() error {
	for _, s := range []struct{ name, value string }{
		{"ipv4/tcp_no_metrics_save", "1"},
		{"ipv4/tcp_wmem", "4096 16384 67108864"},
		{"ipv4/tcp_rmem", "4096 131072 67108864"},
	} {
		if err := os.WriteFile("/proc/sys/net/"+s.name, []byte(s.value), 0o644); err != nil {
			return fmt.Errorf("kernelpath: %w", err)
		}
	}
	// Its neighbour discovery is noise; a kernel without IPv6 has none.
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644)
	return up("lo")
}
