package ranking

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
)

// Config holds the knobs of a [Ranker]. Start from [DefaultConfig].
type Config struct {
	// Seed seeds every random choice. Give each node its own secret one, so that nobody can tell which
	// fetch is a trial; equal seeds repeat a run.
	Seed uint64

	// ASNs maps addresses to autonomous systems; nil groups by prefix. See [GroupOf].
	ASNs ASNs

	// Audit holds the knobs of the audit.
	Audit audit.Config

	// MaxPeers is how many records are kept. More remember more peers that have left, at up to 32
	// KiB each. 10,000.
	MaxPeers int

	// Band is how much slower than the best, as a share, a peer may be to be drawn like it; who served
	// last is kept within a quarter of that. Larger spreads the load and costs time. 10 %: less than the
	// error of most predictions.
	Band float64

	// Prior is the rate of peers nobody knows anything of, as long as there is no population to
	// take it from. Larger is more cautious. 1 us/B, 8 Mbit/s: slower than most peers of the
	// networks we know.
	Prior burst.SecondsPerByte

	// DefaultRTT stands in for a round trip that is not known yet. Larger is more cautious. 200 ms:
	// farther than most.
	DefaultRTT time.Duration

	// StreamWindow is the credit that the host's multiplexer grants a stream, in bytes; 0 if unknown
	// or no limit. [Peer.StreamWindow] overrides it.
	StreamWindow int64

	// DownloadLimit is the known limit of our own link in B/s, or 0. While it is reached verdicts are
	// held.
	DownloadLimit int64

	// HalfWait, HalfCalibration, HalfFailure, HalfGroup are the half-lives of measured completions, of
	// calibration, of the penalty of failures, and of what a group is remembered for. Longer
	// remembers what has changed; shorter lets the same trick work again sooner. With 30 minutes
	// instead of 4 hours a pacer that waits is picked five times as often.
	HalfWait, HalfCalibration, HalfFailure, HalfGroup time.Duration

	// HalfPeak is the half-life of the extra distrust that one slow completion earns beyond its part
	// in the mean. Longer leaves good peers unused after an accident; shorter lets one that withholds
	// be picked again. 10 minutes.
	HalfPeak time.Duration

	// Copies is how many peers of distinct groups a critical fetch is asked of. More costs bandwidth
	// and defeats more defectors at once. 2.
	Copies int

	// MinGroups is how many groups the host wants to stay connected to. Resetting a connection is
	// never advised at or below it. 4.
	MinGroups int

	// HardTimeout is the least time after which a fetch counts as lost and its peer is to be
	// dropped; eight predictions if that is longer. Longer waits for what will not come. 10 s.
	HardTimeout time.Duration

	// ChurnShare is the share of the connected peers that may be proposed for replacement in an hour.
	// Larger improves the set sooner and lets a lie cost more honest peers. 20 %.
	ChurnShare float64

	// Dry says that verdicts are reported and not acted on, for a first deployment.
	Dry bool
}

// DefaultConfig returns the knobs as documented on [Config], with no seed.
func DefaultConfig() Config {
	return Config{
		Audit:    audit.DefaultConfig(),
		MaxPeers: 10_000, Band: 0.10,
		Prior: 1e-6, DefaultRTT: 200 * time.Millisecond,
		HalfWait: 4 * time.Hour, HalfCalibration: day, HalfFailure: 6 * time.Hour, HalfGroup: day,
		HalfPeak: 10 * time.Minute,
		Copies:   2, MinGroups: 4, HardTimeout: 10 * time.Second, ChurnShare: 0.20,
	}
}

// Validate reports the first knob that is out of range, as an error that is [ErrConfig].
func (c Config) Validate() error {
	for _, k := range []struct {
		name string
		ok   bool
		want string
	}{
		{"MaxPeers", c.MaxPeers >= 1 && c.MaxPeers <= 1<<20, "1 to 1048576"},
		{"Band", c.Band >= 0 && c.Band <= 1, "0 to 1"},
		{"Prior", c.Prior > 0 && c.Prior <= 1, "above 0 and at most 1 s/B"},
		{"DefaultRTT", c.DefaultRTT > 0 && c.DefaultRTT <= time.Minute, "above 0 and at most 1m"},
		{"StreamWindow", c.StreamWindow >= 0, "at least 0"},
		{"DownloadLimit", c.DownloadLimit >= 0, "at least 0"},
		{"HalfWait", c.HalfWait >= time.Minute, "at least 1m"},
		{"HalfCalibration", c.HalfCalibration >= time.Minute, "at least 1m"},
		{"HalfFailure", c.HalfFailure >= time.Minute, "at least 1m"},
		{"HalfGroup", c.HalfGroup >= time.Minute, "at least 1m"},
		{"HalfPeak", c.HalfPeak > 0, "above 0"},
		{"Copies", c.Copies >= 1 && c.Copies <= 8, "1 to 8"},
		{"MinGroups", c.MinGroups >= 0, "at least 0"},
		{"HardTimeout", c.HardTimeout >= time.Second, "at least 1s"},
		{"ChurnShare", c.ChurnShare >= 0 && c.ChurnShare <= 1, "0 to 1"},
	} {
		if !k.ok {
			return fmt.Errorf("%w: %s wants %s", ErrConfig, k.name, k.want)
		}
	}
	if err := c.Audit.Validate(); err != nil {
		return fmt.Errorf("%w: Audit: %w", ErrConfig, err)
	}
	return nil
}
