package kernelstudy

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// client is the fetching node's end of one connection.
type client struct {
	session *mux.Session
	window  int64
	last    int64     // the sender's window as it is believed to be
	rounds  float64   // that a window of ours takes, likewise
	asked   time.Time // when the last answer was due
	learnt  int64     // bytes that the readings rest on
}

// dial connects from the hub, and tells the meter what that took.
func dial(net *kernelpath.Net, addr, control string, window uint32) (*client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, took, err := net.Hub().DialTimed(ctx, addr, control)
	if err != nil {
		return nil, err
	}
	s, err := mux.Client(c, Config(window), mux.WithHandshakeRTT(took))
	if err != nil {
		c.Close()
		return nil, err
	}
	return &client{session: s, window: int64(window), asked: time.Now()}, nil
}

func (c *client) close() { c.session.Close() }

// timing is how long a fetch took, from the request.
type timing struct{ first, whole time.Duration }

// get asks for bytes on a stream of their own and reads them all.
func (c *client) get(bytes int64, write int) (timing, error) {
	st, err := c.session.OpenStream()
	if err != nil {
		return timing{}, err
	}
	defer st.Close()
	end := c.session.Meter().Begin()
	defer end()
	return ask(st, bytes, write)
}

// ask makes a request on a stream and times the answer.
func ask(st *yamux.Stream, bytes int64, write int) (t timing, err error) {
	request := binary.BigEndian.AppendUint64(nil, uint64(bytes))
	request = binary.BigEndian.AppendUint64(request, uint64(write))
	began := time.Now()
	if _, err := st.Write(request); err != nil {
		return t, err
	}
	buf := make([]byte, 64<<10)
	for left := bytes; left > 0; {
		n, err := st.Read(buf)
		if n > 0 && left == bytes {
			t.first = time.Since(began)
		}
		if left -= int64(n); err != nil && left > 0 {
			return t, fmt.Errorf("%d bytes short: %w", left, err)
		}
	}
	t.whole = time.Since(began)
	return t, nil
}

// path is the way to the peer as the ranker makes it of a reading, for a fetch
// that begins now.
func (c *client) path(r burst.Reading) ranking.Path {
	p := ranking.Path{
		BaseRTT: r.BaseRTT, HighRTT: r.P95RTT, Rate: r.Estimation.Rate, RateError: r.Estimation.StandardError,
		Lossy: ranking.Lossy(r.OutOfOrder, c.learnt), StreamWindow: c.window,
		WindowRounds: c.rounds, LastWindow: c.last, Idle: time.Since(c.asked),
	}
	if p.Rate == 0 {
		p.Rate = r.Estimation.UpperBound
	}
	return p
}

// predicted is what is expected of a fetch, and within what.
type predicted struct{ total, bar time.Duration }

// fetch predicts a fetch by a reading and makes it.
func (c *client) fetch(bytes int64, r burst.Reading) (predicted, timing, error) {
	p := c.path(r)
	expected := predicted{total: ranking.Predict(bytes, p).Total}
	expected.bar = errorBar(p, expected.total, bytes)
	waited := c.session.Meter().Reading().Credit
	t, err := c.get(bytes, defaultWrite)
	if err != nil {
		return expected, t, err
	}
	now := c.session.Meter().Reading()
	c.last, c.asked = p.WindowAfter(bytes), time.Now()
	if p.Rate <= 0 { // it was not known what a window takes without waiting
		p.Rate = now.Estimation.Rate
	}
	c.rounds = p.RoundsAfter(bytes, now.Credit-waited)
	return expected, t, nil
}
