package scenario

// Workload is what we fetch.
type Workload struct {
	// Warmup is fetched before, to get to know all peers.
	Warmup *Warmup `yaml:"warmup"`

	// Fetches is how many data a user wants. Their sizes are Sizes in turn, or drawn
	// from them.
	Fetches int    `yaml:"fetches"`
	Sizes   []Size `yaml:"sizes"`
	Draw    bool   `yaml:"draw"`

	// Parallel is how many are fetched at the same time, as many as start together
	// unless given.
	Parallel int `yaml:"parallel"`
	// Every is from one's start to the next one's; without it the next starts at
	// the end of one. With AtOnce so many start together, as the items of a round.
	Every  Time `yaml:"every"`
	AtOnce int  `yaml:"at_once"`
	// Deadline is that of each that is not critical, since its start; 0 none.
	Deadline Time `yaml:"deadline"`
	// Start is when the first begins, at the earliest.
	Start Time `yaml:"start"`

	// Critical marks each so-manieth as critical, with a deadline since its start.
	Critical *Critical `yaml:"critical"`

	// Timeout is how long a transfer without progress, or Limit one of any kind, is
	// borne with, whoever chooses: 30s and 5m unless given.
	Timeout Time `yaml:"timeout"`
	Limit   Time `yaml:"limit"`

	// Attested is what signed metadata say of sizes, as a factor on the truth: 1
	// is right. Without it all that is known is what peers claim.
	Attested float64 `yaml:"attested"`
}

// Warmup asks each peer by itself.
type Warmup struct {
	// Each is how many data of each peer, of Sizes in turn.
	Each  int    `yaml:"each"`
	Sizes []Size `yaml:"sizes"`
	// Every is from one's start to the next one's of another peer, at least.
	Every Time `yaml:"every"`
}

// Critical says which fetches are critical.
type Critical struct {
	Every    int  `yaml:"every"`
	Deadline Time `yaml:"deadline"`
}

// Fault is something that goes wrong on our own side.
type Fault struct {
	// At is when, since the start; or InFetch, which of the user's fetches counted
	// from 1, and After how long after its start.
	At      Time `yaml:"at"`
	InFetch int  `yaml:"in_fetch"`
	After   Time `yaml:"after"`
	// Every and Times repeat one that is at a time, Times in all.
	Every Time `yaml:"every"`
	Times int  `yaml:"times"`

	// Freeze is how long the process does not run.
	Freeze Time `yaml:"freeze"`
	// Inbox is how long the application reads no stream.
	Inbox Time `yaml:"inbox"`
	// Disk is how fast it can write what it has read, For how long.
	Disk Rate `yaml:"disk"`
	For  Time `yaml:"for"`
}

// Node is our own side.
type Node struct {
	// Window is the receive window of a stream; 4MiB unless given.
	Window Size `yaml:"window"`
	// Ingress is the limit of our own link.
	Ingress Rate `yaml:"ingress"`
	// KnowsIngress says that the host knows it, and tells the ranker.
	KnowsIngress bool `yaml:"knows_ingress"`
	// Dry reports verdicts and acts on none.
	Dry bool `yaml:"dry"`
	// Copies is how many copies of a critical datum are asked for; 0 is the default.
	Copies int `yaml:"copies"`
	// NoHandshake says that the dial did not measure the round trip.
	NoHandshake bool `yaml:"no_handshake"`
	// Churn is how often the ranker is asked whom to replace; they are disconnected.
	// 0 never.
	Churn Time `yaml:"churn"`
	// Drop says that who is to be dropped at once is, and does not come back.
	Drop bool `yaml:"drop"`
}
