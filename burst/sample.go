package burst

import "time"

// SecondsPerByte is a serialisation slope, s/B. Zero means unknown.
type SecondsPerByte float64

// BytesPerSecond is the same as people read it; 0 if unknown.
func (s SecondsPerByte) BytesPerSecond() float64 {
	if s <= 0 {
		return 0
	}
	return 1 / float64(s)
}

// perByte is the slope of so many bytes in so much time; 0 if there are no bytes.
func perByte(d time.Duration, bytes int64) SecondsPerByte {
	if bytes <= 0 {
		return 0
	}
	return SecondsPerByte(d.Seconds() / float64(bytes))
}

// Reason says why a burst closed.
type Reason uint8

// The reasons, and their number.
const (
	// Horizon: no arrival came in time to extend it.
	Horizon Reason = iota
	// Exchange: the next request of ours began another.
	Exchange
	// FetchEnd: the declared fetch it belonged to ended.
	FetchEnd
	// Closed: the connection ended.
	Closed
	// Reasons is the number of reasons, for arrays indexed by them.
	Reasons
)

// String returns the reason as a label: lower case, underscores.
func (r Reason) String() string {
	switch r {
	case Horizon:
		return "horizon"
	case Exchange:
		return "exchange"
	case FetchEnd:
		return "fetch_end"
	case Closed:
		return "closed"
	}
	return "unknown"
}

// Sample is what one closed burst says. Time over Counted is its rate; both go into an [Estimate]
// as they are, and a sample may hold time and no bytes: the silence at the end of a fetch whose
// burst had closed before.
type Sample struct {
	Opened, Closed time.Duration // first and last arrival, or the end of the charged silence
	Reason         Reason

	Bytes     int64 // all payload of the burst
	Counted   int64 // the payload behind the rate
	Covered   int64 // the payload the gate vetted
	RampBytes int64 // the payload left out as slow start

	Time     time.Duration // charged to the peer, behind the rate
	LeftOut  time.Duration // charged, but spent on slow start or in a burst too short for a rate
	Recalled time.Duration // the part of Time that earlier bursts of the same fetch had left out
	Ours     time.Duration // of our own making, in no rate

	Rate          SecondsPerByte // 0 if the burst is too short to have one
	StandardError SecondsPerByte // from the spread of equal-byte blocks; the rate itself if there is but one

	UpperBound bool // the burst ended within its slow start: the true slope is at most Rate
	Cold       bool // it began with a slow start from the initial window
	Declared   bool // a declared fetch was open
}
