package scenario

// Link is the way to a peer. Rates are payload rates. It starts slowly, from ten
// segments, and again after idleness, as TCP does.
type Link struct {
	// Rate is towards us, Up from us: that of Rate if it is not given.
	Rate Rate `yaml:"rate"`
	Up   Rate `yaml:"up"`
	// RTT is the round trip without any queue, half of it each way.
	RTT Time `yaml:"rtt"`
	// Jitter is the most by which a segment towards us is later than that.
	Jitter Time `yaml:"jitter"`
	// Full says that the window is open from the first byte: no slow start.
	Full bool `yaml:"full"`
	// Buffer is how much may be under way, as lab.Link's; 0 takes its default.
	Buffer Size `yaml:"buffer"`
	// Loss is of segments towards us.
	Loss *Loss `yaml:"loss"`
	// Bucket lets the first bytes through faster.
	Bucket *Bucket `yaml:"bucket"`
	// Through names the bottleneck that the direction towards us shares.
	Through string `yaml:"through"`
	// Changes are steps of rate and round trip, by time since the start.
	Changes []Change `yaml:"changes"`
}

// Loss is which segments are lost, as lab.Loss; of it TCP makes stalls and smaller
// windows.
type Loss struct {
	// Random is the share lost outside bursts.
	Random Share `yaml:"random"`
	// Bursts is the chance with each segment that a burst of losses begins, Length
	// their mean length in segments (3 unless given), Within the share lost in one
	// (all unless given).
	Bursts Share   `yaml:"bursts"`
	Length float64 `yaml:"length"`
	Within Share   `yaml:"within"`
}

// Bucket is a token bucket: so many bytes go at Peak, at once if that is not given,
// the rest at the link's own rate, at which it also fills again while the link is
// idle.
type Bucket struct {
	Bytes Size `yaml:"bytes"`
	Peak  Rate `yaml:"peak"`
}

// Change is a step of a link at a time since the start. What is not given stays as
// it was; a rate of 1bit/s is an outage.
type Change struct {
	At   Time `yaml:"at"`
	Rate Rate `yaml:"rate"`
	RTT  Time `yaml:"rtt"`
}

// Bottleneck is what several links share, by turns.
type Bottleneck struct {
	Rate    Rate     `yaml:"rate"`
	Changes []Change `yaml:"changes"`
}
