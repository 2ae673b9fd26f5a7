// Package bench compares wrapped sessions with bare ones, and with the other
// multiplexers, from outside: its tests speak to unmodified hashicorp/yamux and
// libp2p/go-yamux, and its commands measure.
//
//	go run ./cmd/bench   speed, wrapped over bare, alternating
//	go run ./cmd/compat  hashicorp/yamux's own tests on wrapped sessions
//	go run ./cmd/idle    what an idle connection costs
//
// It is a module of its own, so that users of the shim do not inherit the
// multiplexers it is compared with.
package bench
