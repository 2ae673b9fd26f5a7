package main

// A Population says how honest peers differ. It was written down before the audit was tried on it,
// and is not to be changed to suit the audit: what the audit can't do on it is a result.
//
// A residual is a fetch's excess over its claim, in shares of the claim. An ordinary one is
// log-normal about Median, with a factor of its own for each group and each peer, so that groups and
// peers truly differ and do not average out.
type Population struct {
	Name   string
	Groups int // network locations
	Peers  int // in each

	// Median of an ordinary residual, and the standard deviations of its logarithm: from fetch to
	// fetch, group to group, and peer to peer within a group.
	Median                   float64
	FetchSD, GroupSD, PeerSD float64
	// ActivitySD is that of the logarithm of how often a peer is fetched from.
	ActivitySD float64

	// Serve spikes: how often a peer takes its time, the log-normal excess when it does, and the
	// share of spikes that come before the first byte and so show as a late one.
	SpikeRate, SpikeMedian, SpikeSD float64
	SpikeLate                       float64

	// Heavy tail: how often a fetch is an accident of another order, with a Pareto excess of this
	// scale and exponent. Echoes keep flowing: nothing excuses it.
	TailRate, TailScale, TailExponent float64

	// Lossy paths: their share of the peers, and the law of their residuals, with the claim made
	// from bursts on the same path. StallShare of the excess is silence. The echoes stop with it in
	// EchoStops of the fetches (else one slips through), and the kernel sees the loss in KernelSees.
	Lossy                 float64
	LossyMedian, LossySD  float64
	StallShare            float64
	EchoStops, KernelSees float64
	BlipRate, BlipMedian  float64 // loss on ordinary paths: how often, and the excess, all silence

	// Slow disks: their share of the peers, and the log-normal excess they add to every fetch, since
	// they stream slower than the line.
	SlowDisk           float64
	DiskMedian, DiskSD float64

	// Critical is the share of fetches that the host marks.
	Critical float64
}

// Base is the population of the bars: 10,000 peers in 2,000 groups, of which 5 % are on lossy paths
// and 2 % on slow disks.
var Base = Population{
	Name:   "base",
	Groups: 2000, Peers: 5,
	Median: 0.10, FetchSD: 0.6, GroupSD: 0.4, PeerSD: 0.3,
	ActivitySD: 0.5,
	SpikeRate:  0.01, SpikeMedian: 0.8, SpikeSD: 1, SpikeLate: 0.5,
	TailRate: 0.0005, TailScale: 1, TailExponent: 1.2,
	Lossy: 0.05, LossyMedian: 0.3, LossySD: 0.9,
	StallShare: 0.9, EchoStops: 0.8, KernelSees: 0.5,
	BlipRate: 0.01, BlipMedian: 0.3,
	SlowDisk: 0.02, DiskMedian: 0.8, DiskSD: 0.3,
	Critical: 0.02,
}

// Rougher has groups and peers further apart, three times the spikes, and four times the accidents.
var Rougher = func() Population {
	p := Base
	p.Name = "rougher"
	p.GroupSD, p.PeerSD = 0.5, 0.5
	p.SpikeRate, p.TailRate = 0.03, 0.002
	return p
}()
