package engine

import "time"

// Result is one run of one chooser. Times are in seconds, sizes in bytes, shares
// from 0 to 1. The names are stable: bars and plots rest on them.
type Result struct {
	Chooser string `json:"chooser"`
	Seed    uint64 `json:"seed"`
	// Seconds is how long the run was, in its own time; UserFrom and UserTo bound the
	// user's fetches, and Makespan is the time between.
	Seconds  float64 `json:"seconds"`
	UserFrom float64 `json:"user_from"`
	UserTo   float64 `json:"user_to"`
	Makespan float64 `json:"makespan"`

	// Wait is of the user's fetches, from the wish to the whole datum.
	Wait Spread `json:"wait"`
	// CriticalWait is of those that were critical.
	CriticalWait Spread `json:"critical_wait"`
	// Failed counts the user's fetches that nobody brought, Missed those that came
	// after their deadline.
	Failed int `json:"failed"`
	Missed int `json:"missed"`

	Bytes Bytes `json:"bytes"`
	// Hedges is of the user's fetches.
	Hedges Hedges `json:"hedges"`
	// Holds is how often the chooser began to suspect ourselves and held verdicts.
	Holds int `json:"holds"`
	// HeldSeconds is how long that lasted in all.
	HeldSeconds float64 `json:"held_seconds"`

	// Peers are in the order of the file.
	Peers []*PeerResult `json:"peers"`

	// Fetches, Transfers and Events are in the order in which they began.
	Fetches   []*FetchRecord    `json:"fetches"`
	Transfers []*TransferRecord `json:"transfers"`
	Events    []EventRecord     `json:"events"`

	// Violations are checks of the lab itself that failed.
	Violations []Violation `json:"violations"`
}

// Hedges is how fetches in trouble were helped.
type Hedges struct {
	// Count is the fetches with one, Worst the most that one of them waited for it, as
	// a multiple of what was predicted.
	Count int     `json:"count"`
	Worst float64 `json:"worst"`
	// Rescued counts the fetches that came from another peer than the first asked.
	Rescued int `json:"rescued"`
}

// Spread says how times are distributed.
type Spread struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	Max   float64 `json:"max"`
}

// Bytes is where bytes went, in the user's part of the run.
type Bytes struct {
	// Wanted is the sum of the data that came whole. The others are what came of
	// each kind of transfer beyond that.
	Wanted      int64 `json:"wanted"`
	Hedged      int64 `json:"hedged"`
	Redundant   int64 `json:"redundant"`
	Exploration int64 `json:"exploration"`
	Shadow      int64 `json:"shadow"`
	All         int64 `json:"all"`
	// HedgedShare is Hedged by Wanted, TrialShare that of exploration and shadows,
	// ExtraShare all that came beyond Wanted, redundant copies included.
	HedgedShare float64 `json:"hedged_share"`
	TrialShare  float64 `json:"trial_share"`
	ExtraShare  float64 `json:"extra_share"`
}

// PeerResult is one peer by one identity.
type PeerResult struct {
	Name  string `json:"name"`
	Group string `json:"group"`
	Bad   bool   `json:"bad"`

	Picks Picks `json:"picks"`
	// UserShare is its part of the user's primary picks.
	UserShare float64 `json:"user_share"`
	// Completed and Failed count transfers of any kind.
	Completed int   `json:"completed"`
	Failed    int   `json:"failed"`
	Bytes     int64 `json:"bytes"`

	// Demoted says that it was, ever, and DemotedAt when first; DemotedAfter is how
	// many of its transfers had ended by then.
	Demoted      bool    `json:"demoted"`
	DemotedAt    float64 `json:"demoted_at"`
	DemotedAfter int     `json:"demoted_after"`
	// ConvictedAfterMisses is how many of its transfers had exceeded the gross
	// threshold when it was first convicted of withholding; -1 if it never was.
	ConvictedAfterMisses int `json:"convicted_after_misses"`
	// GrossMisses are those of the whole run.
	GrossMisses int `json:"gross_misses"`
	// Threshold bounds the residuals that its audited transfers were held to.
	Threshold Range `json:"threshold"`
	// ProvenAfter is how many data had come, of anyone, when it was first proven to
	// have lied; -1 if it never was.
	ProvenAfter int `json:"proven_after"`
	// Worsened is the share of its failed primaries after which the same datum was
	// expected to take longer than it was before; 1 if there were none.
	Worsened float64 `json:"worsened"`
	// Dropped says that the ranker wanted it dropped at once, ever; Churned that it was
	// proposed for replacement.
	Dropped bool `json:"dropped"`
	Churned bool `json:"churned"`
	// Ever says which verdicts it had, ever. Verdict is the one that stands at the
	// end, with its reason.
	Ever    Ever   `json:"ever"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`

	// BaseRTT is the base that our shim reports at the end, LoadedRTT the p95 of
	// echoes that waited in a queue, P95RTT that of others.
	BaseRTT   float64 `json:"base_rtt"`
	P95RTT    float64 `json:"p95_rtt"`
	LoadedRTT float64 `json:"loaded_rtt"`
	// Rate is the estimate at the end, in bits per second; Coverage its evidence.
	Rate     float64 `json:"rate"`
	Coverage int64   `json:"coverage"`
	// Ours and Theirs are the silences charged to us and to the peer.
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	Forged uint64  `json:"forged"`

	// Error is the mean, over completed primaries of the user's fetches, of
	// actual/predicted - 1.
	Error float64 `json:"error"`

	// Sizes are by the sizes of the file's data, the least first.
	Sizes []*SizeResult `json:"sizes"`
}

// Range is from Least to Most, both 0 if it is empty.
type Range struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

func (r *Range) add(v float64) {
	if r.Most == 0 || v < r.Least {
		r.Least = v
	}
	r.Most = max(r.Most, v)
}

// Picks counts the transfers that a peer was asked for.
type Picks struct {
	// User is primaries of the user's fetches, Warmup those of the warm-up.
	User   int `json:"user"`
	Warmup int `json:"warmup"`
	// UserLate is those of User after its second completed transfer in the user's
	// part.
	UserLate    int `json:"user_late"`
	Redundant   int `json:"redundant"`
	Hedge       int `json:"hedge"`
	Shadow      int `json:"shadow"`
	Exploration int `json:"exploration"`
	// CriticalAlone is critical fetches it was asked for with no copy elsewhere.
	CriticalAlone int `json:"critical_alone"`
}

// Ever is which verdicts a peer had at any time.
type Ever struct {
	SlowToStart bool `json:"slow_to_start"`
	Path        bool `json:"path"`
	Overclaims  bool `json:"overclaims"`
	NeverAlone  bool `json:"never_alone"`
	Withholding bool `json:"withholding"`
	ProvenLie   bool `json:"proven_lie"`
	EchoHolding bool `json:"echo_holding"`
	// EchoesMissing says that it left too many of our cookies unanswered.
	EchoesMissing bool `json:"echoes_missing"`
}

// FetchRecord is one datum as it was fetched.
type FetchRecord struct {
	N        int     `json:"n"`
	At       float64 `json:"at"`
	User     bool    `json:"user"`
	Size     int64   `json:"size"`
	Critical bool    `json:"critical"`
	// Wait is until it was there, or given up; From who completed it.
	Wait   float64 `json:"wait"`
	From   string  `json:"from"`
	Failed bool    `json:"failed"`
	Missed bool    `json:"missed"`
	// First is the peer that was asked first, Predicted what was predicted of it, and
	// Tries how many plans were made.
	First     string  `json:"first"`
	Predicted float64 `json:"predicted"`
	Tries     int     `json:"tries"`
	Why       string  `json:"why"`
	// HedgedAt is how long after its start the first hedge began; 0 none.
	HedgedAt float64 `json:"hedged_at"`

	at time.Duration
}

// TransferRecord is one peer's part in a fetch.
type TransferRecord struct {
	Fetch int     `json:"fetch"`
	At    float64 `json:"at"`
	User  bool    `json:"user"`
	Peer  string  `json:"peer"`
	Role  string  `json:"role"`
	// Offset and Asked are the range, Asked 0 to the end; Got is what came of it.
	Offset int64 `json:"offset"`
	Asked  int64 `json:"asked"`
	Got    int64 `json:"got"`
	// Predicted is what it was chosen by, Took how long it took, First its first byte.
	Predicted float64 `json:"predicted"`
	Took      float64 `json:"took"`
	First     float64 `json:"first"`
	// Claim, Residual, Threshold and Gross are how the audit took it: the raw claim
	// in seconds, and shares of it; Outcome is its word, "none" where it had none.
	Claim     float64 `json:"claim"`
	Residual  float64 `json:"residual"`
	Threshold float64 `json:"threshold"`
	Gross     float64 `json:"gross"`
	Outcome   string  `json:"outcome"`
	// Expected is how long the chooser expects the same datum to take of this peer, now
	// that it has been told of the end; 0 where it has no such opinion.
	Expected float64 `json:"expected"`
	// Verdict stood after it.
	Verdict string `json:"verdict"`
	// End is "whole", or why it ended short; Trouble what advice was given for.
	End     string `json:"end"`
	Trouble string `json:"trouble"`
}

// EventRecord is what the chooser reported.
type EventRecord struct {
	At      float64 `json:"at"`
	Kind    string  `json:"kind"`
	Peer    string  `json:"peer"`
	Verdict string  `json:"verdict"`
	Detail  string  `json:"detail"`
}

// Violation is a check of the lab itself that failed: a fault of the lab, or of
// what it runs, and never a matter of bars.
type Violation struct {
	At   float64 `json:"at"`
	Peer string  `json:"peer"`
	What string  `json:"what"`
}
