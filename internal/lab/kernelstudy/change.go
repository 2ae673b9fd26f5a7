package kernelstudy

import (
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/ranking"
)

// The bars on a path that changes.
const (
	SeenWithin   = 5 * time.Second // of transfer
	RankedWithin = 3               // fetches
)

// changeBytes is the size of a fetch.
const changeBytes = 500_000

// Change is a path that gets worse in mid-session, with a steady one that it was
// better than.
type Change struct {
	Name           string
	Before, After  Way
	Steady         Way
	Seen           time.Duration // transfer until the meter or the ranker shows it; 0 never
	Ranked         int           // fetches until the steady one ranks first; 0 never
	Worst          audit.Kind    // that stood against either
	Fetches        int           // after the change
	Took, Expected time.Duration // of the last fetch, and by the ranker before it
}

// Changes are those to study.
func Changes(control string) []Change {
	was := Way{RTT: 20 * time.Millisecond, Rate: 100 * lab.Mbit, Control: control}
	steady := Way{RTT: 40 * time.Millisecond, Rate: 50 * lab.Mbit, Control: control}
	far, slow := was, was
	far.RTT, slow.Rate = 200*time.Millisecond, 5*lab.Mbit
	return []Change{
		{Name: "20 to 200 ms", Before: was, After: far, Steady: steady},
		{Name: "100 to 5 Mbit/s", Before: was, After: slow, Steady: steady},
	}
}

const changing, steady = "changing", "steady"

// Run plays it.
func (c *Change) Run() error {
	net, err := kernelpath.Start(kernelpath.Config{Paths: []kernelpath.Path{c.Before.path(), c.Steady.path()}})
	if err != nil {
		return err
	}
	defer net.Close()
	h, err := NewHost(ranking.DefaultConfig())
	if err != nil {
		return err
	}
	defer h.Close()
	var meters []*client
	for i, name := range []string{changing, steady} {
		addr, stop, err := serve(net.Peer(i), c.Before.Control, Wrapped(Window))
		if err != nil {
			return err
		}
		defer stop()
		m, err := dial(net, addr, c.Before.Control, Window)
		if err != nil {
			return err
		}
		defer m.close()
		meters = append(meters, m)
		if _, err := h.Join(name, netip.AddrFrom4([4]byte{192, 0, byte(i), 1}), m.session, Window); err != nil {
			return err
		}
	}
	for range 10 { // both are known well
		for _, name := range []string{changing, steady} {
			if _, err := h.Fetch(ranking.Query{Size: changeBytes, Exclude: but(name)}); err != nil {
				return err
			}
		}
	}
	if first := h.Ranker.Rank(h.Now(), changeBytes, 2)[0].Peer; first != changing {
		return fmt.Errorf("%s: %s ranks first before the change, which is not what this is to show", c.Name, first)
	}
	if err := net.Set(0, c.After.path()); err != nil {
		return err
	}
	return c.after(h, meters[0])
}

// but names the other.
func but(name string) []string {
	if name == changing {
		return []string{steady}
	}
	return []string{changing}
}

// after fetches over the changed path until all is seen, or long enough.
func (c *Change) after(h *Host, m *client) error {
	var transfer time.Duration
	for transfer < 2*SeenWithin && (c.Seen == 0 || c.Ranked == 0 || c.Fetches < 10) {
		s, err := h.Ranker.Standing(h.Now(), changing, changeBytes)
		if err != nil {
			return err
		}
		c.Expected = s.Expected
		o, err := h.Fetch(ranking.Query{Size: changeBytes, Exclude: but(changing)})
		if err != nil {
			return err
		}
		c.Took = o.Took
		transfer += o.Took
		c.Fetches++
		if c.Seen == 0 && c.seen(h, m) {
			c.Seen = transfer
		}
		if c.Ranked == 0 && h.Ranker.Rank(h.Now(), changeBytes, 2)[0].Peer == steady {
			c.Ranked = c.Fetches
		}
		c.Worst = max(c.Worst, o.Verdict.Kind)
	}
	return nil
}

// seen says whether what is known is nearer to the path as it is than as it was,
// the middle being that of orders of magnitude: round trips by the meter, what a
// fetch takes by the ranker.
func (c *Change) seen(h *Host, m *client) bool {
	r := m.session.Meter().Snapshot().RTT
	if c.After.RTT > c.Before.RTT {
		return max(r.P95, r.LoadedP95) >= c.After.RTT*3/4
	}
	s, err := h.Ranker.Standing(h.Now(), changing, changeBytes)
	return err == nil && s.Expected >= c.After.Rate.Time(changeBytes)/2
}

// Met says whether the bars are.
func (c Change) Met() bool {
	return c.Seen > 0 && c.Seen <= SeenWithin && c.Ranked > 0 && c.Ranked <= RankedWithin && !convicts(c.Worst)
}

// convicts says whether a verdict is a punishment, in contrast to a note.
func convicts(k audit.Kind) bool { return k == audit.Withholding || k == audit.ProvenLie }

// WriteChanges prints them.
func WriteChanges(w io.Writer, all []Change) {
	for _, c := range all {
		word := "met"
		if !c.Met() {
			word = "missed"
		}
		fmt.Fprintf(w, "%-16s %-6s seen after %v of transfer (bar %v), ranked after %d fetches (bar %d), worst verdict %v; the last of %d took %v, expected %v: %s\n",
			c.Name, c.Before.Control, c.Seen.Round(time.Millisecond), SeenWithin, c.Ranked, RankedWithin, c.Worst,
			c.Fetches, c.Took.Round(time.Millisecond), c.Expected.Round(time.Millisecond), word)
	}
}
