// Package bubble runs a test that holds yamux sessions in virtual time.
//
// testing/synctest alone does not suffice: yamux keeps timers in a pool of its
// package, and a timer born in one bubble and taken out in the next, or outside
// any, ends the process ("select on synctest channel from outside bubble").
// Every virtual-time test of this module therefore goes through [Run]. See
// https://pkg.go.dev/testing/synctest.
package bubble

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname

	_ "github.com/hashicorp/yamux" // whose pool it is
)

// timerPool is yamux's own variable, reached by name. Should a later yamux drop
// or rename it, it reads nil here, which Run tells.
//
//go:linkname timerPool github.com/hashicorp/yamux.timerPool
var timerPool *sync.Pool

// one lets bubbles run one at a time, for they share yamux's pool.
var one sync.Mutex

// Run runs f in a synctest bubble in which yamux may be used, with the rules of
// synctest.Test: f calls neither Run nor Parallel on its t, and every goroutine
// must end, so f closes its sessions. Concurrent calls take turns; yamux must
// not be used outside a bubble meanwhile, so a package with such tests runs them
// not in parallel.
//
// A goroutine waiting for a mutex stops the virtual clock, so a hang is not
// proof of a fault of its own: see lab.WholeFrames, let one goroutine write a
// stream and the same close it, and give tests a short -timeout.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	one.Lock()
	defer one.Unlock()
	if timerPool == nil {
		t.Fatal("bubble: this yamux has no timerPool; look where it keeps its timers, or pin v0.1.2")
	}
	timerPool = freshPool()
	defer func() { timerPool = freshPool() }()
	synctest.Test(t, f)
}

// freshPool is an empty pool as yamux makes it: its timers are stopped.
func freshPool() *sync.Pool {
	return &sync.Pool{New: func() any {
		timer := time.NewTimer(time.Hour)
		timer.Stop()
		return timer
	}}
}
