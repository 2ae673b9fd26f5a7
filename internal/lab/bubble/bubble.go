// Package bubble runs a test that holds yamux sessions in virtual time.
//
// testing/synctest alone does not suffice: yamux keeps timers in a package-level
// sync.Pool, and a timer born in one bubble and taken out in the next, or outside
// any, ends the process ("reset of synctest timer from outside bubble"). Every
// virtual-time test of this module therefore goes through [Run]. See
// https://pkg.go.dev/testing/synctest.
package bubble

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// one lets bubbles run one at a time, for they share yamux's pool.
var one sync.Mutex

// Run runs f in a synctest bubble in which yamux may be used, with the rules of
// synctest.Test: f calls neither Run nor Parallel on its t, and every goroutine
// must end, so f closes its sessions. Concurrent calls take turns. Sessions
// outside a bubble must be closed before, so a package that has both kinds of
// test runs them not in parallel. Emptying the pools costs a call some 20 ms, so a
// property with thousands of cases wants many of them in one bubble.
//
// A goroutine waiting for a mutex stops the virtual clock, so a hang is not
// proof of a deadlock: see lab.WholeFrames, let one goroutine write a stream
// and the same close it, and give tests a short -timeout.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	one.Lock()
	defer one.Unlock()
	emptyPools()
	defer emptyPools()
	synctest.Test(t, f)
}

// emptyPools drops what every sync.Pool of the process holds: the first
// collection retires it, the second lets it go. The third is for what a
// goroutine of a session just closed puts back during the first. Setting
// yamux's pool anew by linkname is quicker, but races with just that goroutine,
// and the race detector says so.
func emptyPools() {
	for range 3 {
		runtime.GC()
	}
}
