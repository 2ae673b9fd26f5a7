// Package peers puts the multiplexers that are compared behind one interface:
// hashicorp/yamux, libp2p/go-yamux, smux, and a bare TCP connection. None of
// them is modified, and none knows of the shim: a caller hands them a conn,
// wrapped or not.
package peers
