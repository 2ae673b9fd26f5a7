package metrics

// Option changes a [Collector] from its defaults.
type Option func(*options)

type options struct {
	top, perPeer int
	ranker       RankingSource
	campaign     CampaignSource
	native       bool
}

// defaultTop is how many rank slots there are. More show more of the field and
// cost a handful of series each; a fetch rarely considers more than five peers.
const defaultTop = 5

// WithTop sets the number of rank slots, 5 by default. More slots show more of
// the field and cost one series for each figure. 0 or less shows none.
func WithTop(k int) Option { return func(o *options) { o.top = max(k, 0) } }

// WithPerPeer adds series with a peer label for up to so many names; by default
// there are none. Each name costs about 30 series; the ones left out, by rank
// the last, are counted in assay_peers_omitted. A name that leaves takes its
// series along. 0 or less shows none.
func WithPerPeer(names int) Option { return func(o *options) { o.perPeer = max(names, 0) } }
