package speedtest

import (
	"io"
	"net"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/message"
)

const (
	// receiptUnit is what the bytes of a receipt are a multiple of: whoever sends
	// remembers 8 bytes for each unit that is under way. Smaller costs memory,
	// larger precision at low rates.
	receiptUnit = 1 << 10

	// receiptEvery is how often a stream is receipted. Rarer makes lumps that the
	// curve has to spread.
	receiptEvery = 50 * time.Millisecond
)

// send writes payload of the target's making until the run is over.
func (l *leg) send(st net.Conn, index uint16) error {
	src := keystream.NewSource(l.key, index)
	buf := make([]byte, chunk)
	for {
		n := l.take(chunk)
		if n == 0 {
			return nil
		}
		src.Fill(buf[:n])
		if _, err := st.Write(buf[:n]); err != nil {
			return err
		}
		l.job.responder.cfg.Moved(0, n)
	}
}

// receive takes payload and receipts it, until the run is over.
func (l *leg) receive(st net.Conn) error {
	buf := make([]byte, 2*chunk)
	var r receipts
	for {
		n, err := st.Read(buf)
		if n > 0 {
			l.job.responder.cfg.Moved(n, 0)
			granted := l.take(n)
			if granted == 0 {
				return nil
			}
			if m, due := r.add(l.job.responder.now(), buf[:granted]); due {
				if err := message.Write(st, m); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// receipts makes the receipts of one stream.
type receipts struct {
	sum  keystream.Sum
	unit keystream.Sum // at the last whole unit
	at   time.Duration // of the last receipt
	said int64         // its bytes
}

// add takes payload in and says whether a receipt is due.
func (r *receipts) add(now time.Duration, p []byte) (message.Receipt, bool) {
	whole := (r.sum.Len()+int64(len(p)))/receiptUnit*receiptUnit - r.sum.Len()
	if whole > 0 {
		r.sum.Add(p[:whole])
		r.unit = r.sum
		p = p[whole:]
	}
	r.sum.Add(p)
	if r.unit.Len() == r.said || r.said > 0 && now-r.at < receiptEvery {
		return message.Receipt{}, false
	}
	r.at, r.said = now, r.unit.Len()
	return message.Receipt{Bytes: r.said, Sum: r.unit.Value()}, true
}

// splice passes payload on between the near stream and its far one, one way.
func (l *leg) splice(near net.Conn, a message.Attach) error {
	p := l.other(a)
	if p == nil {
		return nil // no far end: nothing to carry
	}
	var from io.Reader = p.conn
	var to io.Writer = near
	if l.way == message.ThroughOut {
		from, to = near, p.conn
	}
	buf := make([]byte, chunk)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			granted := l.take(n)
			if granted == 0 {
				return nil
			}
			l.job.responder.cfg.Moved(granted, granted)
			if _, err := to.Write(buf[:granted]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// lend leaves a far stream to the goroutine of the near one that belongs to it,
// until that is done with it.
func (l *leg) lend(a message.Attach) {
	<-l.stopped
	l.mu.Lock()
	a.Side = message.Near
	near := l.streams[a]
	l.mu.Unlock()
	if near != nil {
		<-near.unused
	}
}
