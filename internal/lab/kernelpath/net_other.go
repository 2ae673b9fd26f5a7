//go:build !linux

package kernelpath

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Carry does nothing.
func Carry() {}

// Prefer does nothing.
func Prefer() {}

// Available says why paths cannot be emulated here.
func Available() error { return ErrUnavailable }

// CongestionControls are those that the kernel has.
func CongestionControls() []string { return nil }

// Net is a hub with its peers.
type Net struct{}

// Start fails: this needs Linux.
func Start(Config) (*Net, error) { return nil, ErrUnavailable }

// Close does nothing.
func (*Net) Close() error { return nil }

// Hub is no host.
func (*Net) Hub() *Host { return nil }

// Peer is no host.
func (*Net) Peer(int) *Host { return nil }

// Set fails.
func (*Net) Set(int, Path) error { return ErrUnavailable }

// Stats are none.
func (*Net) Stats(int) (up, down Stats) { return }

// Lateness is none.
func (*Net) Lateness() Lateness { return Lateness{} }

// Host is a network namespace with one address.
type Host struct{}

// Addr is none.
func (*Host) Addr() netip.Addr { return netip.Addr{} }

// Do fails.
func (*Host) Do(func() error) error { return ErrUnavailable }

// Listen fails.
func (*Host) Listen(context.Context, string) (net.Listener, error) { return nil, ErrUnavailable }

// Dial fails.
func (*Host) Dial(context.Context, string, string) (net.Conn, error) { return nil, ErrUnavailable }

// DialTimed fails.
func (*Host) DialTimed(context.Context, string, string) (net.Conn, time.Duration, error) {
	return nil, 0, ErrUnavailable
}
