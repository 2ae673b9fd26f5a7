package speedtest

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain: every goroutine ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
