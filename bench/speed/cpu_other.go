//go:build !unix

package speed

import "time"

// processorTime is not known here; the column of processor time stays empty.
func processorTime() time.Duration { return 0 }
