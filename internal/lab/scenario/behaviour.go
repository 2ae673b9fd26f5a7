package scenario

// Rule is what a peer does, and when.
type Rule struct {
	When When `yaml:"when"`
	Do   Do   `yaml:"do"`
}

// When is a condition on a request. All that is given must hold; nothing given
// holds always.
type When struct {
	// Critical is whether the fetch is marked critical, which a peer is told.
	Critical *bool `yaml:"critical"`
	// AfterFetches and UntilFetches bound how many requests the peer has had before:
	// from, and below.
	AfterFetches int `yaml:"after_fetches"`
	UntilFetches int `yaml:"until_fetches"`
	// After and Until bound the time since the start.
	After Time `yaml:"after"`
	Until Time `yaml:"until"`
	// Share is how many of its requests, drawn by the seed.
	Share Share `yaml:"share"`
	// Every is each so-manieth request.
	Every int `yaml:"every"`
	// Sizes bounds what is asked for, of the datum's true size.
	Sizes *Sizes `yaml:"sizes"`
	// Not turns it round.
	Not bool `yaml:"not"`
}

// Sizes is a range, from inclusive, to exclusive, 0 open.
type Sizes struct {
	From Size `yaml:"from"`
	To   Size `yaml:"to"`
}

// Do is what is done to a reply. Mechanisms add up.
type Do struct {
	// Delay is before the first byte: a cold disk, a queue.
	Delay Span `yaml:"delay"`
	// Rate is how fast it is written: a slow disk, padding, a drip. RateFrom and RateTo
	// bound where in the datum, all of it if not given.
	Rate     Rate   `yaml:"rate"`
	RateFrom Point  `yaml:"rate_from"`
	RateTo   *Point `yaml:"rate_to"`
	// Pace writes a burst, and after it is silent.
	Pace *Pace `yaml:"pace"`
	// Stalls are silences at places.
	Stalls []Stall `yaml:"stalls"`
	// Fail ends it.
	Fail *Fail `yaml:"fail"`
	// Fill sends useless frames from the request to the end of the reply.
	Fill *Fill `yaml:"fill"`
}

// Pace is idle-gap pacing.
type Pace struct {
	Burst   Size `yaml:"burst"`
	Silence Span `yaml:"silence"`
}

// Stall is one silence.
type Stall struct {
	At  Point `yaml:"at"`
	For Span  `yaml:"for"`
}

// How a reply fails.
const (
	// NotFound says so at once.
	NotFound = "not_found"
	// Reset ends the stream short of the datum.
	Reset = "reset"
	// Silent sends no more, and leaves the stream open.
	Silent = "silent"
	// Vanish closes the connection.
	Vanish = "vanish"
	// Corrupt sends wrong bytes from there on.
	Corrupt = "corrupt"
)

// Fail is the end of a reply.
type Fail struct {
	How string `yaml:"how"`
	// At is where in the datum, at its beginning if not given.
	At Point `yaml:"at"`
}

// What a peer fills its silences with.
const (
	// FillPings are answers to pings of yamux that nobody sent.
	FillPings = "pings"
	// FillWindow are window updates, FillEmpty Data frames without a body.
	FillWindow = "window"
	FillEmpty  = "empty"
	// FillUnknown is payload on a stream that does not exist.
	FillUnknown = "unknown"
)

// Fill is busy fill.
type Fill struct {
	Kind  string `yaml:"kind"`
	Every Time   `yaml:"every"`
	// Size is that of FillUnknown.
	Size Size `yaml:"size"`
}
