package kernelpath

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

const (
	device = "path0"
	// deviceQueue is how many packets the kernel holds for us. Shorter drops what a
	// window sent at once does not fit.
	deviceQueue = 20_000
)

// openDevice makes the device of a namespace, with its address, and returns its
// file, which does not block.
func (ns *namespace) openDevice(addr netip.Addr) (fd int, err error) {
	err = ns.do(func() error {
		if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return fmt.Errorf("%w: /dev/net/tun: %w", ErrUnavailable, err)
		}
		if err = setUp(fd, addr); err != nil {
			unix.Close(fd)
			return fmt.Errorf("%w: the device: %w", ErrUnavailable, err)
		}
		return nil
	})
	return fd, err
}

func setUp(fd int, addr netip.Addr) error {
	ifr, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr); err != nil {
		return err
	}
	ip := addr.As4()
	for _, s := range []struct {
		request uint
		value   func(*unix.Ifreq) error
	}{
		{unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(ip[:]) }},
		{unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{255, 255, 0, 0}) }},
		{unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(mtu); return nil }},
		{unix.SIOCSIFTXQLEN, func(r *unix.Ifreq) error { r.SetUint32(deviceQueue); return nil }},
	} {
		if err := configure(device, s.request, s.value); err != nil {
			return err
		}
	}
	return up(device)
}

// up brings an interface of the thread's namespace up.
func up(name string) error {
	return configure(name, unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil })
}

// configure makes one setting of an interface of the thread's namespace.
func configure(name string, request uint, value func(*unix.Ifreq) error) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	ifr, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := value(ifr); err != nil {
		return err
	}
	if err := unix.IoctlIfreq(s, request, ifr); err != nil {
		return fmt.Errorf("%s, request %#x: %w", name, request, err)
	}
	return nil
}
