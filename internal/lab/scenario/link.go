package scenario

// Link is the way to a peer. Rates are payload rates. It starts slowly, from ten
// segments, and again after idleness, as TCP does.
type Link struct {
	// Rate is towards us, Up from us: that of Rate if it is not given.
	Rate Rate `yaml:"rate"`
	Up   Rate `yaml:"up"`
	// RTT is the round trip without any queue, half of it each way.
	RTT Time `yaml:"rtt"`
	// Jitter is the extra delay of a segment towards us, as package lab draws it.
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
	// Changes are steps of rate and round trip, by time since the connection began.
	Changes []Change `yaml:"changes"`
}

// Loss is how segments are lost, of which TCP makes stalls.
type Loss struct {
	// Random is the share of segments lost, each for itself.
	Random Share `yaml:"random"`
	// Bad is the share lost while the link is in its bad state; Enter and Leave are
	// the chances, per segment, of entering and leaving it (Gilbert-Elliott).
	Bad   Share `yaml:"bad"`
	Enter Share `yaml:"enter"`
	Leave Share `yaml:"leave"`
}

// Bucket is a token bucket: so many bytes go at Rate, the rest at the link's
// own; it fills again at the link's own while that is idle.
type Bucket struct {
	Bytes Size `yaml:"bytes"`
	Rate  Rate `yaml:"rate"`
}

// Change is a step of a link. What is 0 stays as it was.
type Change struct {
	At   Time `yaml:"at"`
	Rate Rate `yaml:"rate"`
	RTT  Time `yaml:"rtt"`
}

// Bottleneck is what several links share.
type Bottleneck struct {
	Rate Rate `yaml:"rate"`
}
