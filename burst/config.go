package burst

import (
	"errors"
	"fmt"
	"time"
)

// ErrConfig is returned by [Config.Validate]; the text after it names the knob and its bound.
var ErrConfig = errors.New("burst: a knob is out of range, start from DefaultConfig and change what you need")

// Config holds the knobs of a [Window]. Start from [DefaultConfig].
type Config struct {
	// TightSpacing is the longest gap between two reads that still is prompt service. Larger
	// forgives more jitter and lets a dribbler keep its coverage (it reads slow all the same).
	// 30 ms is well below the least retransmission timeout of common stacks (200 ms) and above
	// scheduling and pacing jitter.
	TightSpacing time.Duration

	// Horizon is how long after the last prompt read a burst stays open, and the shortest silence
	// at the end of a fetch that is charged. Larger ties more to one burst; smaller closes honest
	// bursts at a single lost packet. 1 s outlasts one retransmission timeout.
	Horizon time.Duration

	// RampSpacingMax bounds the spacing allowed between the windows of a slow start, which is two
	// base round trips. Larger helps satellite paths; it is what an inflated round trip could win
	// at most. 1 s, the initial retransmission timeout of RFC 6298.
	RampSpacingMax time.Duration

	// RampCapConfirmed is the most bytes of a slow start that are left out of the rate where the
	// base round trip is confirmed by handshake or kernel. Larger measures far and fast peers
	// sooner and gives away more unmeasured bytes. 4 MiB holds the slow start of 268 ms at
	// 100 Mbit/s (3.7 MB).
	RampCapConfirmed int64

	// RampCap is the same where only echoes vouch for the round trip, which a peer can inflate by
	// holding them.
	RampCap int64

	// InitialWindow is the first window of a slow start in bytes: ten segments, RFC 6928. Larger
	// predicts fewer rounds.
	InitialWindow int64

	// ColdAfter is the idleness after which a sender starts slowly again; twice the base round trip
	// if that is longer. Larger takes more bursts for warm and so reads them slower. 200 ms is the
	// least retransmission timeout of Linux (RFC 5681 section 4.1 restarts after one).
	ColdAfter time.Duration

	// MinSpan is the least time a rate may rest on. Larger discards more small bursts. Below 1 ms
	// the reading is that of timers and of the reader's own loop.
	MinSpan time.Duration

	// SDU is the largest frame the sender is expected to cut its data into, in bytes. On a slow
	// path two of them are allowed as spacing, since a peer may hand over whole frames.
	SDU int
}

// DefaultConfig returns the knobs as documented on [Config].
func DefaultConfig() Config {
	return Config{
		TightSpacing:     30 * time.Millisecond,
		Horizon:          time.Second,
		RampSpacingMax:   time.Second,
		RampCapConfirmed: 4 << 20,
		RampCap:          1 << 20,
		InitialWindow:    14600,
		ColdAfter:        200 * time.Millisecond,
		MinSpan:          time.Millisecond,
		SDU:              16 << 10,
	}
}

// Validate reports the first knob that is out of range, as an error that is [ErrConfig].
func (c Config) Validate() error {
	for _, k := range []struct {
		name string
		bad  bool
		want string
	}{
		{"TightSpacing", c.TightSpacing <= 0, "above zero"},
		{"Horizon", c.Horizon < c.TightSpacing, "at least TightSpacing"},
		{"RampSpacingMax", c.RampSpacingMax <= 0, "above zero"},
		{"RampCapConfirmed", c.RampCapConfirmed <= 0, "above zero"},
		{"RampCap", c.RampCap <= 0 || c.RampCap > c.RampCapConfirmed, "above zero and at most RampCapConfirmed"},
		{"InitialWindow", c.InitialWindow <= 0, "above zero"},
		{"ColdAfter", c.ColdAfter <= 0, "above zero"},
		{"MinSpan", c.MinSpan <= 0, "above zero"},
		{"SDU", c.SDU <= 0, "above zero"},
	} {
		if k.bad {
			return fmt.Errorf("%w: %s must be %s", ErrConfig, k.name, k.want)
		}
	}
	return nil
}
