package passive

import (
	"errors"
	"time"
)

// ErrConfig says that a Config makes no sense; the error that wraps it says which field, and what it
// may be.
var ErrConfig = errors.New("passive: bad config")

// Config says what is observed. Its fields are part of what the figures mean: a peer's are comparable
// only if they were kept alike.
type Config struct {
	// Best is how long a rate has to be held to be observed: whole seconds, 1 to 600. Longer is harder
	// to reach for a node with short bursts of work. 10 s is Tor's.
	Best time.Duration
	// Window is how long an observation counts. Longer finds rarer peaks, and forgets later what the
	// node can no longer do. A day has each busy hour once; Tor now takes 5 days.
	Window time.Duration
	// Buckets is how many parts the window is kept in, 1 to 1440. More forget more precisely, for 64
	// bytes each: an observation may count a Window/Buckets too long, never too short.
	Buckets int
}

// DefaultConfig is the best 10 s of the last 24 h, in buckets of 15 minutes.
func DefaultConfig() Config {
	return Config{Best: 10 * time.Second, Window: 24 * time.Hour, Buckets: 96}
}

// Validate returns nil or an error that is ErrConfig.
func (c Config) Validate() error {
	switch bucket := c.bucket(); {
	case c.Best < time.Second || c.Best > 600*time.Second || c.Best%time.Second != 0:
		return fieldError("Best is a number of whole seconds from 1 to 600")
	case c.Buckets < 1 || c.Buckets > 1440:
		return fieldError("Buckets is from 1 to 1440")
	case c.Window < 0 || c.Window%time.Duration(c.Buckets) != 0 || bucket%time.Second != 0:
		return fieldError("Window is a number of whole seconds for each bucket")
	case bucket < c.Best:
		return fieldError("Window is at least Best for each bucket")
	}
	return nil
}

// bucket is how long one bucket is, 0 without buckets.
func (c Config) bucket() time.Duration {
	if c.Buckets < 1 {
		return 0
	}
	return c.Window / time.Duration(c.Buckets)
}

func fieldError(text string) error { return errors.Join(ErrConfig, errors.New(text)) }
