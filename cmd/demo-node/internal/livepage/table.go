package livepage

// table is what the list shows of all peers, in rank order and by column. A column
// names itself once and not once a peer, and what takes few values is a place
// among Words: so five hundred peers take a quarter of what their rows would, which
// a browser has to read twice a second. The rest of a row is sent of the open peer
// alone.
type table struct {
	Words    []string  `json:"words"`
	Peer     []string  `json:"peer"`
	Group    []string  `json:"group"`
	Base     []float64 `json:"base"`
	P95      []float64 `json:"p95"`
	Rate     []float64 `json:"rate"`
	Coverage []int64   `json:"coverage"`
	Expected []float64 `json:"expected"`
	Gate     []int     `json:"gate"`
	Closes   []float64 `json:"closes"`
	Verdict  []int     `json:"verdict"`
	Reason   []int     `json:"reason"`
	// Bad is 1 where the verdict is punitive; so are the next two.
	Bad      []int `json:"bad"`
	Demoted  []int `json:"demoted"`
	Newcomer []int `json:"newcomer"`
	// The last fetch that the audit looked at, "" and zeros if there was none.
	Outcome   []int     `json:"outcome"`
	Claim     []float64 `json:"claim"`
	Actual    []float64 `json:"actual"`
	Residual  []float64 `json:"residual"`
	Threshold []float64 `json:"threshold"`
}

// newTable puts rows together.
func newTable(rows []row) table {
	n := len(rows)
	t := table{
		Words: []string{}, Peer: make([]string, n), Group: make([]string, n), Base: make([]float64, n), P95: make([]float64, n),
		Rate: make([]float64, n), Coverage: make([]int64, n), Expected: make([]float64, n), Gate: make([]int, n), Closes: make([]float64, n),
		Verdict: make([]int, n), Reason: make([]int, n), Bad: make([]int, n), Demoted: make([]int, n), Newcomer: make([]int, n),
		Outcome: make([]int, n), Claim: make([]float64, n), Actual: make([]float64, n), Residual: make([]float64, n), Threshold: make([]float64, n),
	}
	places := make(map[string]int)
	word := func(s string) int {
		place, ok := places[s]
		if !ok {
			place = len(t.Words)
			places[s] = place
			t.Words = append(t.Words, s)
		}
		return place
	}
	for i := range rows {
		t.set(i, &rows[i], word)
	}
	return t
}

// set puts a row in its place.
func (t *table) set(i int, r *row, word func(string) int) {
	t.Peer[i], t.Group[i], t.Base[i], t.P95[i], t.Rate[i] = r.Peer, r.Group, r.Base, r.P95, r.Rate
	t.Coverage[i], t.Expected[i], t.Gate[i], t.Closes[i] = r.Coverage, r.Expected, word(r.Gate), r.Closes
	t.Verdict[i], t.Reason[i] = word(r.Verdict), word(r.Reason)
	t.Bad[i], t.Demoted[i], t.Newcomer[i] = one(r.Bad), one(r.Demoted), one(r.Newcomer)
	var l last
	if r.Last != nil {
		l = *r.Last
	}
	t.Outcome[i], t.Claim[i], t.Actual[i], t.Residual[i], t.Threshold[i] = word(l.Outcome), l.Claim, l.Actual, l.Residual, l.Threshold
}

// one is 1 if so.
func one(so bool) int {
	if so {
		return 1
	}
	return 0
}
