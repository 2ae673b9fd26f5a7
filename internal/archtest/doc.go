// Package archtest checks the rules by which this module is put together: which
// package may import which, and that the state machines have no clock, no
// goroutine and no socket.
//
// The linter says the same sooner, in an editor (depguard and forbidigo in
// .golangci.yml); this package says it wherever the tests run, with nothing
// installed. Both are written down because a rule that only a tool knows is
// lost with the tool.
package archtest
