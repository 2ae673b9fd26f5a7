// Package kernelpath puts real kernel TCP on emulated paths: a hub and any number
// of peers, each in a network namespace of its own with a TUN device, whose
// packets a process beside this one carries with a rate, a delay, a queue and
// loss, each direction its own, changing when told to, and through a bottleneck
// that several peers share where there is one. Sockets are made in a namespace
// by [Host.Listen] and [Host.Dial] and used like any other, so that one process
// can be all nodes.
//
// It stands in for netem, which many kernels lack, and where simulated links are
// not enough: what nodes run on is the kernel's slow start, its congestion
// control, its delayed acknowledgements and its losses.
//
// Nothing outlives the process: namespaces have no names, devices belong to open
// files. Linux, root and /dev/net/tun are needed; [Available] says what is
// missing.
//
// The loss model is that of Gilbert, "Capacity of a Burst-Noise Channel", 1960,
// and Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", 1963.
package kernelpath
