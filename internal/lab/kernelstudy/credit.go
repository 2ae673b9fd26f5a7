package kernelstudy

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

// ownWindow is yamux's own receive window of a stream in bytes.
const ownWindow = 256 << 10

// Credit is how long a window of yamux's own size takes on a path that it does
// not fill.
type Credit struct {
	Way       Way
	Wrapped   bool      // the serving end; ours is
	PerWindow []float64 // in round trips, of each fetch, sorted
	Errors    []float64 // of predictions, as shares, sorted
}

// creditBytes is the size of a fetch: about thirty windows.
const creditBytes = 8_000_000

// creditFetches is how many fetches are made of each.
const creditFetches = 6

// Credits measures them, on ways whose name contains a text.
func Credits(only string) (all []Credit, err error) {
	for _, rtt := range []int{40, 69, 150} {
		for _, wrapped := range []bool{true, false} {
			c := Credit{Way: Way{RTT: time.Duration(rtt) * time.Millisecond, Rate: 200 * lab.Mbit}, Wrapped: wrapped}
			if !strings.Contains(c.Way.String(), only) {
				continue
			}
			if err := c.measure(); err != nil {
				return all, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func (c *Credit) measure() error {
	net, err := kernelpath.Start(kernelpath.Config{Paths: []kernelpath.Path{c.Way.path()}})
	if err != nil {
		return err
	}
	defer net.Close()
	start := Bare(ownWindow)
	if c.Wrapped {
		start = Wrapped(ownWindow)
	}
	addr, stop, err := serve(net.Peer(0), "", start)
	if err != nil {
		return err
	}
	defer stop()
	cl, err := dial(net, addr, "", ownWindow)
	if err != nil {
		return err
	}
	defer cl.close()
	for i := range creditFetches + 1 {
		p, t, err := cl.fetch(creditBytes, cl.session.Meter().Reading())
		if err != nil {
			return err
		}
		if i == 0 {
			continue // cold, and nothing is known yet
		}
		windows := float64(creditBytes)/ownWindow - 1
		c.PerWindow = append(c.PerWindow, (t.whole-t.first).Seconds()/windows/c.Way.RTT.Seconds())
		c.Errors = append(c.Errors, (p.total-t.whole).Seconds()/t.whole.Seconds())
	}
	slices.Sort(c.PerWindow)
	slices.Sort(c.Errors)
	return nil
}

// WriteCredits prints them.
func WriteCredits(w io.Writer, all []Credit) {
	fmt.Fprintf(w, "Round trips that a window of 256 KiB takes, and errors of predictions in %%: least, median, most\n")
	for _, c := range all {
		e, p := c.Errors, c.PerWindow
		fmt.Fprintf(w, "%20v  wrapped peer %-5v  %.2f %.2f %.2f   %+.1f %+.1f %+.1f\n", c.Way, c.Wrapped,
			p[0], quantile(p, 0.5), p[len(p)-1], 100*e[0], 100*quantile(e, 0.5), 100*e[len(e)-1])
	}
}
