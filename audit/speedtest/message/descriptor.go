package message

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/passive"
)

const descriptorSize = 6*8 + 2 + 6*8

// Descriptor is what a node publishes of itself: its figures, and what it allows
// to be tested. It is a claim.
type Descriptor struct {
	passive.Figures
	Policy Policy
}

// Policy is what a node says it allows. Its gate decides.
type Policy struct {
	// Willing says that it can be tested at all; a node that was not asked for
	// consent by its operator is not.
	Willing bool
	// OptedOut says that it never wants to be.
	OptedOut bool
	// Limit to Rate are the bounds of a run.
	MaxBytes  int64
	MaxLength time.Duration
	MaxRate   int64 // in bytes per second, 0 if there is none
	Streams   int64
	// Interval is the time between two tests by one tester, and Notice how long
	// before its first one a tester announces itself.
	Interval, Notice time.Duration
}

func (Descriptor) kind() Kind { return KindDescribe }

func (d Descriptor) append(b []byte) []byte {
	for _, n := range []int64{d.Advertised, d.Observed, d.ObservedWithoutTests, d.Read, d.Written, d.Limit} {
		b = appendCount(b, n)
	}
	p := d.Policy
	b = appendFlag(appendFlag(b, p.Willing), p.OptedOut)
	b = appendSpan(appendCount(b, p.MaxBytes), p.MaxLength)
	b = appendCount(appendCount(b, p.MaxRate), p.Streams)
	return appendSpan(appendSpan(b, p.Interval), p.Notice)
}

func (f *fields) descriptor() Descriptor {
	var d Descriptor
	for _, n := range []*int64{&d.Advertised, &d.Observed, &d.ObservedWithoutTests, &d.Read, &d.Written, &d.Limit} {
		*n = f.count()
	}
	p := &d.Policy
	p.Willing, p.OptedOut = f.flag(), f.flag()
	p.MaxBytes, p.MaxLength = f.count(), f.span()
	p.MaxRate, p.Streams = f.count(), f.count()
	p.Interval, p.Notice = f.span(), f.span()
	return d
}

const (
	proposalSize = 1 + 2 + 4*8
	grantSize    = 16 + 1 + 2 + 3*8
	attachSize   = 16 + 1 + 2 + 1
	startSize    = 1 + 1 + 16
	receiptSize  = 16
)

// Way is the way the payload of a run goes.
type Way uint8

// The ways.
const (
	// FromTarget: the target makes the payload.
	FromTarget Way = iota
	// ToTarget: it takes it, and returns receipts.
	ToTarget
	// ThroughIn: it passes on what comes from the far side, to the tester.
	ThroughIn
	// ThroughOut: it passes on what comes from the tester, to the far side.
	ThroughOut

	ways
)

// String returns the way as a label: lower case, underscores.
func (w Way) String() string {
	return [ways + 1]string{"from_target", "to_target", "through_in", "through_out", "unknown"}[min(w, ways)]
}

// Through says whether the target only passes the payload on.
func (w Way) Through() bool { return w == ThroughIn || w == ThroughOut }

// Token names a test to whoever has been told it: 128 random bits.
type Token [16]byte

// String shows its first half: what is logged cannot be used.
func (t Token) String() string { return fmt.Sprintf("%x", t[:len(t)/2]) }

// Announce says that a test will be asked for.
type Announce struct{ In time.Duration }

// Noted answers an Announce.
type Noted struct{}

// Propose asks for a test. Zero is no wish.
type Propose struct {
	Runs    uint8
	Streams uint16
	Length  time.Duration // of a run
	Bytes   int64         // of a run
	Rate    int64         // of a run, in bytes per second
	Limit   int64         // of the tester's own link, in bytes per second
}

// Grant answers a Propose: what the test may have.
type Grant struct {
	Token   Token
	Runs    uint8
	Streams uint16
	Length  time.Duration
	Bytes   int64
	Rate    int64 // 0 is none
}

// Side is the end of a test that opens a stream.
type Side uint8

// The sides.
const (
	Near Side = iota // the tester
	Far              // its exit

	sides
)

// Attach makes a stream carry a run's payload.
type Attach struct {
	Token Token
	Run   uint8 // from 0
	Index uint16
	Side  Side
}

// Attached answers an Attach.
type Attached struct{}

// Start begins a run.
type Start struct {
	Run uint8
	Way Way
	Key keystream.Key // for FromTarget, else zero
}

// Stop ends a run.
type Stop struct{}

// Done says that the target has ended a run: why, by the numbers of
// policy.Ended, and how many bytes it moved, on its word.
type Done struct {
	Reason uint8
	Bytes  int64
}

// Ping is answered by a Pong of the same value.
type Ping struct{ Value uint64 }

// Pong answers a Ping.
type Pong struct{ Value uint64 }

// Receipt says how many bytes of payload have come, and proves it by their sum.
type Receipt struct {
	Bytes int64
	Sum   uint64
}

// Refusal is a normal answer: why not, by the numbers of policy.Code, and when to
// ask again, 0 for never. As an error it quotes the peer.
type Refusal struct {
	Code       uint8
	RetryAfter time.Duration
	Text       string // the peer's own words, at most 200 bytes; not to be trusted
}

// Error is for people.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the peer refuses the speed test with code %d (it says %q), ask again after %v", r.Code, r.Text, r.RetryAfter)
}
