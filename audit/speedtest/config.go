package speedtest

import (
	"errors"
	"math"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
)

// Config says what to measure. Zero fields take what Default has, where that
// says more than zero.
type Config struct {
	// Near opens streams to the target, and Far streams of our exit to it. Far
	// is needed for the ways through the target only.
	Near, Far Opener
	// Ways are measured one after the other, under one consent.
	Ways []message.Way
	// Length is how long each takes, and Omit how much of that is left out at its
	// start. Longer averages more, costs the peer more, and needs its consent.
	Length, Omit time.Duration
	// Prior is what is expected of the target in bytes per second: the most of
	// what it says and what we know. Too low costs a few seconds, for streams are
	// added when they turn out too few; too high costs the target a longer queue.
	Prior float64
	// Streams is how many there are in any case, and MaxStreams at most.
	Streams, MaxStreams int
	// Window and PeerWindow are the bytes of credit that our session grants a
	// stream, and the target's.
	Window, PeerWindow int64
	// Limit is the rate of our own link in bytes per second, 0 if unknown. It is
	// stated to the target, which allows more if it is known.
	Limit int64
	// Rate, in bytes per second, and Bytes are what we take of a run at most; 0 is no cap.
	Rate, Bytes int64
	// Outstanding is told, as a difference, how many more bytes a fetch from this
	// peer would now share the path with because of the test, either way: a ranker
	// predicts by that (ranking.Ranker.Busy), and so looks elsewhere while the test
	// runs. Nil is not called.
	Outstanding func(delta int64)
	// Progress is told how a run goes, ten times a second. It must not block. Nil
	// is not called.
	Progress func(Progress)
	// CPU returns the processor time this process has used. With it, a run is
	// found to be limited by our own machine. Nil looks at late timers only.
	CPU func() time.Duration
}

// Progress is how a run goes.
type Progress struct {
	Way     message.Way
	Elapsed time.Duration
	Length  time.Duration // planned
	Rate    float64       // of the last second, in bytes per second
	Bytes   int64         // proven so far
	Streams int
	Omitted bool // still in what is left out
}

// Default returns the test as the experiment ran it: 20 s.
func Default() Config {
	return Config{
		Length: 20 * time.Second, Omit: 3 * time.Second, Prior: 12.5e6, Streams: 4, MaxStreams: 256,
		Window: 256 << 10, PeerWindow: 256 << 10,
	}
}

// ErrConfig says that a Config makes no sense; what follows says why.
var ErrConfig = errors.New("speedtest: bad config")

func (c Config) normal() (Config, error) {
	d := Default()
	c.Length = or(c.Length, d.Length)
	c.Omit = or(c.Omit, max(min(d.Omit, c.Length/4, c.Length-time.Second), 0))
	c.Streams, c.MaxStreams = or(c.Streams, d.Streams), or(c.MaxStreams, d.MaxStreams)
	c.Window, c.PeerWindow = or(c.Window, d.Window), or(c.PeerWindow, d.PeerWindow)
	if !(c.Prior > 0) || math.IsInf(c.Prior, 0) {
		c.Prior = d.Prior
	}
	if c.Outstanding == nil {
		c.Outstanding = func(int64) {}
	}
	if c.Progress == nil {
		c.Progress = func(Progress) {}
	}
	return c, c.check()
}

func (c Config) check() error {
	bad := func(text string) error { return errors.Join(ErrConfig, errors.New(text)) }
	switch {
	case c.Near == nil || len(c.Ways) == 0 || len(c.Ways) > 8:
		return bad("give Near and one to eight Ways")
	case c.Length < 0 || c.Length > 5*time.Minute || c.Omit < 0 || c.Omit > c.Length-time.Second:
		return bad("Length is at most 5 min, and Omit leaves a second of it at least")
	case c.Streams < 1 || c.MaxStreams < c.Streams || c.MaxStreams > math.MaxUint16:
		return bad("Streams is 1 at least, and MaxStreams from there to 65535")
	case c.Window < 0 || c.PeerWindow < 0 || c.Limit < 0 || c.Rate < 0 || c.Bytes < 0:
		return bad("windows, limits and caps are not negative")
	}
	for _, w := range c.Ways {
		if w.Through() && c.Far == nil {
			return bad("a way through the target needs Far")
		}
	}
	return nil
}

func or[T int | int64 | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

// plenty is how many times the expected rate the windows of all streams allow:
// FlashFlow's 2.25, to be above the truth where the prior is half of it.
const plenty = 2.25

// streams is how many streams it takes for a rate over a round trip, by windows
// of that size, within bounds. Over a slow path fewer than asked for do: each
// would only add a window to the queue.
func (c Config) streams(rate float64, rtt time.Duration, window int64, most int) int {
	n := int(math.Ceil(plenty * rate * rtt.Seconds() / float64(window)))
	least := c.Streams
	if queue := float64(int64(least)*window) / rate; queue > 1 {
		least = min(least, 2)
	}
	return min(max(n, least), most)
}

// window is what holds the sender of a way back.
func (c Config) window(w message.Way) int64 {
	switch w {
	case message.ToTarget:
		return c.PeerWindow
	case message.FromTarget:
		return c.Window
	case message.ThroughIn, message.ThroughOut:
	}
	return min(c.Window, c.PeerWindow) // one of each, whichever comes first
}
