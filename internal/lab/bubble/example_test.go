package bubble_test

import (
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/bubble"
)

func ExampleRun() {
	_ = func(t *testing.T) { // a test
		bubble.Run(t, func(t *testing.T) {
			time.Sleep(time.Hour) // takes no time
		})
	}
	// Output:
}
