package audit

import (
	"errors"
	"fmt"
	"time"
)

// ErrConfig is returned by [Config.Validate]; the text after it names the knob and its bound.
var ErrConfig = errors.New("audit: a knob is out of range, start from DefaultConfig and change what you need")

// Config holds the knobs of an [Auditor]. Start from [DefaultConfig]. The constants were chosen on a
// simulated population, which internal/lab/auditstudy runs again; DefaultConfig has their figures.
type Config struct {
	// ThresholdMin and ThresholdMax clamp the threshold T, in shares of the claim. A higher floor
	// lets a weaker padder through; a lower one lets hostile groups that merely serve well convict
	// honest peers. A higher ceiling lets hostile groups hide what they withhold.
	ThresholdMin, ThresholdMax float64

	// VoteQuantile of a peer's residuals times VoteFactor is what the peer puts into its group's
	// vote. A quantile nearer to 1 falls to a peer's rare accidents, a lower one says nothing of the
	// tail.
	VoteQuantile, VoteFactor float64

	// MinGroups is how many groups other than the peer's own have to vote in a stratum before it
	// has a threshold of its own. More is steadier and merges more strata.
	MinGroups int

	// PairSamples and SoloSamples say when a group votes: two of its peers have PairSamples samples
	// in the stratum, or one has SoloSamples. More is steadier, and slower to have a baseline.
	PairSamples, SoloSamples int

	// GroupAge is how long a group has to be known before it votes. Longer makes it dearer to
	// conjure voters up.
	GroupAge time.Duration

	// Slack and SlackRTTs x BaseRTT are the excess that is never held against a peer, whatever the
	// ratio. Larger forgives small fetches.
	Slack     time.Duration
	SlackRTTs float64

	// GrossFactor times the threshold is where withholding begins.
	GrossFactor float64

	// OursMax is the share of a fetch that may be our own doing before the record is void.
	OursMax float64

	// CoverageFactor is how many times larger than the coverage of its claim a fetch may be to be
	// audited. Larger judges claims by what they never promised (a token-bucket link).
	CoverageFactor int64

	// ErrorBarMax bounds the claim's error bar, in shares of the claim. Larger lets an erratic peer
	// hold its own audit back.
	ErrorBarMax float64

	// Span is the stagger of the two digests a peer has in a stratum: a vote rests on the last one
	// to two spans. Longer is steadier and remembers a network that is gone.
	Span time.Duration

	// The charts: each a sequential test of how often something happens. See [Chart].
	Overclaims, Withholding, Critical, Path, SlowToStart, EchoHolding Chart

	// HoldingSlack and HoldingFactor x KernelRTT are how far the echoes may lag the kernel's round
	// trip before they count as held.
	HoldingSlack  time.Duration
	HoldingFactor float64

	// ForgedEchoes is how many never-issued cookies prove a lie. One could be a bit error on a path
	// without TLS, or one of our own bugs.
	ForgedEchoes int
}

// DefaultConfig returns the defaults; the reason is beside each.
func DefaultConfig() Config {
	return Config{
		// Honest residuals of the best strata stay under 0.8, so a floor there costs no honest peer;
		// a padder at half its rate is at 1 or more, so the ceiling has to stay below 1.
		ThresholdMin: 0.8, ThresholdMax: 0.95,
		// p95 of 40 samples is the second largest; twice that is about a log-normal's p99, without
		// falling to one accident.
		VoteQuantile: 0.95, VoteFactor: 2,
		// With 6 groups a third of them hostile leaves 89 % of padders found, with 12 97 %.
		MinGroups: 12,
		// Below 40 the p95 is the largest sample.
		PairSamples: 40, SoloSamples: 100,
		// An hour is a churn period: a group that lasts one was worth keeping.
		GroupAge: time.Hour,
		// One scheduler hiccup and one retransmission by fast recovery: on a LAN the claim itself is
		// a millisecond.
		Slack: 50 * time.Millisecond, SlackRTTs: 2,
		// Four thresholds: 4.2 to 4.8 times the claim. Three give twice as many false convictions of
		// lossy paths.
		GrossFactor: 4,
		// Up to half, what is left after subtracting still is mostly the peer's.
		OursMax: 0.5,
		// A burst of a quarter of the size says what the rest will do; a tenth does not.
		CoverageFactor: 4,
		// So that no error bar excuses a gross excess.
		ErrorBarMax: 1,
		// A day holds every hour of it.
		Span: 24 * time.Hour,
		// Eight in a row: an honest peer exceeds T in about 1 fetch of 100, the worst in 1 of 4.
		Overclaims: Chart{Honest: 0.10, Guilty: 0.80, Limit: 16},
		// Eight in a row too, but 1 in 10 convicts in the end: the gross excess is rare.
		Withholding: Chart{Honest: 0.01, Guilty: 0.10, Limit: 18},
		// Three in a row: being wrong costs no more than a second copy of one fetch.
		Critical: Chart{Honest: 0.02, Guilty: 0.30, Limit: 8},
		// Bears no blame, so it may be as quick.
		Path: Chart{Honest: 0.02, Guilty: 0.30, Limit: 8},
		// As overclaims: it is the same question of another part of the fetch.
		SlowToStart: Chart{Honest: 0.10, Guilty: 0.80, Limit: 16},
		EchoHolding: Chart{Honest: 0.10, Guilty: 0.80, Limit: 16},
		// A busy peer's scheduler, and delayed acknowledgements in the kernel's figure.
		HoldingSlack: 50 * time.Millisecond, HoldingFactor: 2,
		ForgedEchoes: 3,
	}
}

// Validate reports the first knob that is out of range, as an error that is [ErrConfig].
func (c Config) Validate() error {
	for _, k := range []struct {
		name string
		good bool // written so that a NaN is not
		want string
	}{
		{"ThresholdMin", c.ThresholdMin > 0, "above zero"},
		{"ThresholdMax", c.ThresholdMax >= c.ThresholdMin && c.ThresholdMax <= 100, "from ThresholdMin to 100"},
		{"VoteQuantile", c.VoteQuantile > 0 && c.VoteQuantile < 1, "between 0 and 1"},
		{"VoteFactor", c.VoteFactor > 0 && c.VoteFactor <= 100, "above zero, at most 100"},
		{"MinGroups", c.MinGroups >= 1, "at least 1"},
		{"PairSamples", c.PairSamples >= 1, "at least 1"},
		{"SoloSamples", c.SoloSamples >= c.PairSamples && c.SoloSamples <= maxVoteSamples, "from PairSamples to 30000"},
		{"GroupAge", c.GroupAge >= 0, "zero or more"},
		{"Slack", c.Slack >= 0 && c.Slack <= time.Hour, "from 0 to an hour"},
		{"SlackRTTs", c.SlackRTTs >= 0 && c.SlackRTTs <= 100, "from 0 to 100"},
		{"GrossFactor", c.GrossFactor > 1 && c.GrossFactor <= 100, "above 1, at most 100"},
		{"OursMax", c.OursMax > 0 && c.OursMax < 1, "between 0 and 1"},
		{"CoverageFactor", c.CoverageFactor >= 1 && c.CoverageFactor <= 1<<20, "from 1 to a million"},
		{"ErrorBarMax", c.ErrorBarMax >= 0 && c.ErrorBarMax <= 100, "from 0 to 100"},
		{"Span", c.Span > 0, "above zero"},
		{"Overclaims", c.Overclaims.valid(), chartBounds},
		{"Withholding", c.Withholding.valid(), chartBounds},
		{"Critical", c.Critical.valid(), chartBounds},
		{"Path", c.Path.valid(), chartBounds},
		{"SlowToStart", c.SlowToStart.valid(), chartBounds},
		{"EchoHolding", c.EchoHolding.valid(), chartBounds},
		{"HoldingSlack", c.HoldingSlack >= 0 && c.HoldingSlack <= time.Hour, "from 0 to an hour"},
		{"HoldingFactor", c.HoldingFactor >= 1 && c.HoldingFactor <= 100, "from 1 to 100"},
		{"ForgedEchoes", c.ForgedEchoes >= 1, "at least 1"},
	} {
		if !k.good {
			return fmt.Errorf("%w: %s must be %s", ErrConfig, k.name, k.want)
		}
	}
	return nil
}

// orDefault returns c, or the defaults where c is not valid, so that an auditor built without a
// check still keeps its promises.
func (c Config) orDefault() Config {
	if c.Validate() != nil {
		return DefaultConfig()
	}
	return c
}
