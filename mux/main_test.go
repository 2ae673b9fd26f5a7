package mux

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the run if a goroutine of ours outlives its connection. A
// connection that was closed first goes on taking the peer's last bytes for a
// while, which goleak waits for.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
