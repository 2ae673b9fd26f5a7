package cookie

import (
	"errors"
	"time"
)

// Errors of the two Validate methods. They are meant for errors.Is.
var (
	// ErrMaxOutstanding says that Config.MaxOutstanding is out of range.
	ErrMaxOutstanding = errors.New("cookie: MaxOutstanding must be from 1 to 32")
	// ErrMinInterval says that Config.MinInterval is negative.
	ErrMinInterval = errors.New("cookie: MinInterval must not be negative")
	// ErrSkipAfter says that Config.SkipAfter is out of range.
	ErrSkipAfter = errors.New("cookie: SkipAfter must be from 1 to 96")
	// ErrMaxAge says that Config.MaxAge is not positive.
	ErrMaxAge = errors.New("cookie: MaxAge must be positive")
	// ErrLoadedAfter says that Config.LoadedAfter is not positive.
	ErrLoadedAfter = errors.New("cookie: LoadedAfter must be positive")
	// ErrCompression says that RTTConfig.Compression is out of range.
	ErrCompression = errors.New("cookie: Compression must be from 20 to 200")
	// ErrSpan says that a time in RTTConfig is not positive.
	ErrSpan = errors.New("cookie: HalfSpan, BaseSpan, Flush and Max must be positive")
)

// Bounds of the configuration.
const (
	// outstandingLimit is the hard limit on MaxOutstanding: go-yamux queues at
	// most 32 pongs and drops the next one.
	outstandingLimit = 32
	// skipLimit keeps the ring (MaxOutstanding + SkipAfter entries) within 128.
	skipLimit = 96
	// Below 20 the t-digest's tails are a handful of centroids; above 200 it
	// costs more memory than a connection is worth and gains nothing at p95.
	compressionMin, compressionMax = 20, 200
)

// Config says how a Queue deals its cookies and when it gives one up.
type Config struct {
	// MaxOutstanding is how many cookies may be unechoed at once, 1 to 32. A
	// larger number samples a long path more often, but from 33 on go-yamux
	// drops echoes. 8 is what a few cookies a round trip need.
	MaxOutstanding int

	// MinInterval is the least time between two cookies. A longer one costs less
	// and measures less. At 1 ms the cost was not measurable; a cookie for every
	// frame ate all that joining writes gained.
	MinInterval time.Duration

	// SkipAfter is how many newer cookies have to be echoed before an older one
	// is given up, 1 to 96. A larger number forgives more reordering and pins the
	// front age for longer. yamux answers pings concurrently, so neighbours swap;
	// 16 is twice the default of all that can be in flight with it.
	SkipAfter int

	// MaxAge is the age at which a cookie is given up whatever else came. A
	// longer one takes slower echoes for samples, a shorter one counts them late.
	// 5 s is above any path's round trip and within a person's patience.
	MaxAge time.Duration

	// LoadedAfter is how many payload bytes may arrive between a cookie and its
	// echo before the sample counts as loaded, since the echo then waited behind
	// them in the peer's send queue. Larger lets more queueing into the unloaded
	// reading. 16 KiB is one SDU: 13 ms at 10 Mbit/s.
	LoadedAfter int64
}

// DefaultConfig returns the values that the fields of Config explain.
func DefaultConfig() Config {
	return Config{
		MaxOutstanding: 8,
		MinInterval:    time.Millisecond,
		SkipAfter:      16,
		MaxAge:         5 * time.Second,
		LoadedAfter:    16 << 10,
	}
}

// Validate reports the first field that is out of range, or nil.
func (c Config) Validate() error {
	switch {
	case c.MaxOutstanding < 1 || c.MaxOutstanding > outstandingLimit:
		return ErrMaxOutstanding
	case c.MinInterval < 0:
		return ErrMinInterval
	case c.SkipAfter < 1 || c.SkipAfter > skipLimit:
		return ErrSkipAfter
	case c.MaxAge <= 0:
		return ErrMaxAge
	case c.LoadedAfter <= 0:
		return ErrLoadedAfter
	}
	return nil
}

// orDefault returns c, or the defaults where c is not valid, so that a queue
// built without a check still keeps its promises on memory.
func (c Config) orDefault() Config {
	if c.Validate() != nil {
		return DefaultConfig()
	}
	return c
}

// RTTConfig says over which time, and how finely, RTT summarises its samples.
type RTTConfig struct {
	// Compression is the t-digest's, 20 to 200. Memory grows in proportion. At
	// 25 the worst of 20 runs over log-normal round trips was off by 1.0 % at p50
	// and 0.3 % at p95; at 100 by 0.1 %, for four times the memory.
	Compression float64

	// HalfSpan is the stagger of the two digests: a quantile rests on the samples
	// of the last one to two HalfSpans. Longer is steadier and slower to notice
	// that a path changed. 5 min holds a few fetches.
	HalfSpan time.Duration

	// BaseSpan is the window of the minimum, kept in two halves, so that a
	// minimum lives for BaseSpan/2 to BaseSpan. Longer survives longer queues and
	// clings longer to a route that is gone. 10 min outlast a long download, whose
	// queue would else become the base (BBR can do with 10 s, as it drains the
	// queue on purpose; we can't).
	BaseSpan time.Duration

	// Flush is the period at which the digests take new samples in, at most 32
	// each time; of more, a uniform choice. Longer costs less and sees less. 1 s
	// makes the cost of a sample next to nothing at any rate of cookies. A Reading
	// does not wait for it: it counts the pending ones too.
	Flush time.Duration

	// Max is the largest round-trip time taken at its word; longer ones are
	// recorded as Max. 1 min is beyond all that is still a connection.
	Max time.Duration

	// Seed starts the random choice of samples; the same seed and samples give the
	// same readings. 0, the default, draws one, so that a peer can't know which
	// echoes will be looked at.
	Seed uint64
}

// DefaultRTTConfig returns the values that the fields of RTTConfig explain.
func DefaultRTTConfig() RTTConfig {
	return RTTConfig{
		Compression: 25,
		HalfSpan:    5 * time.Minute,
		BaseSpan:    10 * time.Minute,
		Flush:       time.Second,
		Max:         time.Minute,
	}
}

// Validate reports the first field that is out of range, or nil.
func (c RTTConfig) Validate() error {
	// Written so that a NaN fails.
	if !(c.Compression >= compressionMin && c.Compression <= compressionMax) {
		return ErrCompression
	}
	if c.HalfSpan <= 0 || c.BaseSpan <= 0 || c.Flush <= 0 || c.Max <= 0 {
		return ErrSpan
	}
	return nil
}

// orDefault returns c, or the defaults where c is not valid.
func (c RTTConfig) orDefault() RTTConfig {
	if c.Validate() != nil {
		return DefaultRTTConfig()
	}
	return c
}
