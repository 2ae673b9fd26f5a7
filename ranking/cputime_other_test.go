//go:build !linux

package ranking

import "testing"

// stopwatch measures nothing where a thread's own time can't be had.
type stopwatch struct{}

func (*stopwatch) start()            {}
func (*stopwatch) stop()             {}
func (*stopwatch) report(*testing.B) {}
