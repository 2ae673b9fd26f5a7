package ranking

import "errors"

// The errors of a [Ranker]. What follows their text names the culprit.
var (
	// ErrConfig is returned by [Config.Validate].
	ErrConfig = errors.New("ranking: a knob is out of range, start from DefaultConfig and change what you need")
	// ErrUnknownPeer: the name or the connection is not known, or no longer.
	ErrUnknownPeer = errors.New("ranking: no such peer or connection, let it Join first")
	// ErrNoPeer: nobody who is connected may be asked.
	ErrNoPeer = errors.New("ranking: no connected peer can be asked for this, connect to more peers or exclude fewer")
	// ErrNoSize: neither the query nor an offer says how large the datum is.
	ErrNoSize = errors.New("ranking: the size is unknown, give Query.Size or an offer of the datum")
	// ErrFull: as many peers are connected as there may be records.
	ErrFull = errors.New("ranking: too many peers are connected, let some Leave or raise Config.MaxPeers")
	// ErrBudget: the extra bytes of the last hour are used up.
	ErrBudget = errors.New("ranking: the budget of extra bytes is used up, go on without this copy")
	// ErrEnded: the fetch is over.
	ErrEnded = errors.New("ranking: the fetch is over, begin another")
	// ErrStalePlan: the peer that a plan names has left since.
	ErrStalePlan = errors.New("ranking: the peer of this plan has left, choose again")
	// ErrPeer: the name of a peer is empty or too long to keep.
	ErrPeer = errors.New("ranking: a peer needs a name of 1 to 256 bytes and a meter")
	// ErrRate: the result of a test is no rate.
	ErrRate = errors.New("ranking: a tested rate is above 0 and below 1 second a byte, give the median of a test that the peer limited")
	// ErrDamagedState is returned by [Ranker.Load] for a state that no ranker can have saved.
	ErrDamagedState = errors.New("ranking: the saved state is damaged, start without it; it was not used")
)
