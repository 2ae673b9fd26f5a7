package scenario

// Peer is one peer, or Count alike.
type Peer struct {
	// Name is its identity. Where there are several, they are NAME-1, NAME-2 and so on.
	Name  string `yaml:"name"`
	Count int    `yaml:"count"`

	// Bad says that it is an adversary. Others are honest, whatever they do: they
	// may not be convicted, and what they are picked is not held against us.
	Bad bool `yaml:"bad"`

	// Group is the prefix its address is from: peers of the same are in one network
	// location. Without it each has one of its own, or PerGroup of them share one.
	Group    string `yaml:"group"`
	PerGroup int    `yaml:"per_group"`

	// Link names its link.
	Link string `yaml:"link"`

	// Wrapped says that it runs the shim too; else a bare yamux.
	Wrapped bool `yaml:"wrapped"`
	// Frame is the largest write of its server; 16KiB unless given.
	Frame Size `yaml:"frame"`

	// Join is when it comes, and Leaves when it goes and perhaps comes again.
	Join   Time    `yaml:"join"`
	Leaves []Leave `yaml:"leaves"`

	// Claims is what it says of sizes; nothing is the truth.
	Claims *Claims `yaml:"claims"`

	// Behaviour is what it does when it is asked: all rules whose condition holds,
	// together. Without any it serves what it is asked for at once.
	Behaviour []Rule `yaml:"behaviour"`

	// Echoes is what its multiplexer does to the echoes of our cookies.
	Echoes *Echoes `yaml:"echoes"`

	// Side is another protocol that it answers promptly, whatever its behaviour.
	Side *Side `yaml:"side"`

	// Tested is what a speed test that we made as it joined showed. Its test traffic is
	// not played: it is served as fast as the peer likes, whatever it does else.
	Tested Rate `yaml:"tested"`

	// Push is what it sends without being asked, as in a one-way protocol.
	Push *Push `yaml:"push"`
}

// Leave is when a peer goes.
type Leave struct {
	// At is when, since the start; or Demoted: once the ranker chooses it no more.
	At      Time `yaml:"at"`
	Demoted bool `yaml:"demoted"`
	// Back is how long after that it joins again, 0 never, and As as whom: the same,
	// or a new identity at the same place, called NAME~2.
	Back Time   `yaml:"back"`
	As   string `yaml:"as"`
}

// Claims is what a peer advertises as the size of data.
type Claims struct {
	// Factor is how many times the truth. 0.1 understates tenfold.
	Factor float64 `yaml:"factor"`
	// Late says that it offers a datum only while that is being fetched.
	Late bool `yaml:"late"`
}

// Echoes is what happens to the echoes of our cookies.
type Echoes struct {
	// Hold is how long each is kept back.
	Hold Span `yaml:"hold"`
	// Skip is the share never answered.
	Skip Share `yaml:"skip"`
	// Forge answers a cookie that never was, after each so many echoes; Replay
	// answers one twice.
	Forge  int `yaml:"forge"`
	Replay int `yaml:"replay"`
	// WithStalls keeps echoes back while it keeps data back, to look like the path.
	WithStalls bool `yaml:"with_stalls"`
	// LostInStalls never answers what comes while it keeps data back, to look fast.
	LostInStalls bool `yaml:"lost_in_stalls"`
}

// Side is a second protocol: we ask each so often, it answers at once.
type Side struct {
	Every Time `yaml:"every"`
	Reply Size `yaml:"reply"`
}

// Push is what a peer sends unasked, at most one at a time.
type Push struct {
	Every Time `yaml:"every"`
	Size  Size `yaml:"size"`
	// Until is when it ends, 0 never.
	Until Time `yaml:"until"`
	// Unread says that we don't read it: it uses its credit up and stays.
	Unread bool `yaml:"unread"`
}
