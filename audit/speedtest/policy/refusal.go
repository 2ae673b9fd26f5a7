package policy

import (
	"fmt"
	"time"
)

// Code says why a test is refused, or why one ended. The numbers are on the
// wire.
type Code uint8

// The codes. Only BadRequest is anybody's fault.
const (
	// Accepted: not refused.
	Accepted Code = iota
	// OptedOut: the node wants no tests, ever.
	OptedOut
	// NotAnnounced: the notice period is not over, or has not begun.
	NotAnnounced
	// Busy: another test is under way.
	Busy
	// TooSoon: this identity has had its test.
	TooSoon
	// GroupQuota: its network group has had its share.
	GroupQuota
	// DayQuota: the node has given what it gives in a day.
	DayQuota
	// BadRequest: asks for nothing that could be granted.
	BadRequest

	codes
)

var codeNames = [codes + 1]string{
	"accepted", "opted_out", "not_announced", "busy", "too_soon", "group_quota", "day_quota", "bad_request", "unknown",
}

// String returns the code as a label: lower case, underscores.
func (c Code) String() string { return codeNames[min(c, codes)] }

// Refusal is the answer to a request that is not granted. As an error it says
// what to do.
type Refusal struct {
	Code Code
	// RetryAfter is how long to wait before asking again, 0 if no time helps.
	RetryAfter time.Duration
}

// Error is for people.
func (r *Refusal) Error() string {
	what := map[Code]string{
		OptedOut:     "the peer has opted out of speed tests, leave it alone",
		NotAnnounced: "the peer wants tests announced ahead",
		Busy:         "the peer is being tested by another",
		TooSoon:      "the peer has been tested by us lately",
		GroupQuota:   "the peer has given our network group its share",
		DayQuota:     "the peer has given what it gives in a day",
		BadRequest:   "the peer cannot grant what we asked for, ask for no less than 64 KiB a run",
	}[r.Code]
	if what == "" {
		what = "the peer refuses for a reason of a later version"
	}
	if r.RetryAfter > 0 {
		return fmt.Sprintf("%s; ask again in %v", what, r.RetryAfter.Round(time.Second))
	}
	return what
}
