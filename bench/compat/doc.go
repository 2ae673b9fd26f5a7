// Package compat runs the tests that hashicorp/yamux has of itself against
// wrapped sessions, side by side with bare ones.
//
// A shim that claims to be a drop-in has to pass the tests of what it drops
// into. They are taken from the module cache at the version our own go.mod
// pins, copied to a temporary directory and given one hook, in the constructor
// of a session; nothing of theirs is kept. Some of them fail now and then on
// bare sessions too: those are compared by rate.
package compat
