package accuracy

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/mux"
)

// streamWindow is the credit of a stream, in bytes: more than the largest fetch,
// so that it is the path that is measured and not our credit.
const streamWindow = 16 << 20

// askSize is the length of a request in bytes: how many bytes are wanted.
const askSize = 8

// node is the fetching end of a path, with the peer that serves it.
type node struct {
	session *mux.Session
	peer    *mux.Session
}

// newNode joins two nodes by a way. It must be called in a bubble.
func newNode(w Way) (*node, error) {
	a, b := lab.Pair(w.Link())
	s, err1 := mux.Client(a, config(), append(options(), mux.WithHandshakeRTT(w.RTT))...)
	p, err2 := mux.Server(b, config(), options()...)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	go serve(p)
	return &node{s, p}, nil
}

func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.MaxStreamWindowSize = streamWindow
	c.ConnectionWriteTimeout = time.Hour // 12 MB over 1 Mbit/s wait for minutes
	c.StreamOpenTimeout = 0
	c.StreamCloseTimeout = time.Hour
	return c
}

// options keep yamux from stopping the virtual clock, and the watcher in it.
func options() []mux.Option {
	return []mux.Option{
		mux.WithTap(func(c net.Conn) net.Conn { return lab.WholeFrames(c) }),
		mux.WithWatcher(mux.NewWatcher()),
	}
}

// close ends both ends.
func (n *node) close() error { return errors.Join(n.session.Close(), n.peer.Close()) }

// fetch asks for so many bytes on a stream of their own, as a node fetches a
// datum, and says how long it took from the request to the last of them.
func (n *node) fetch(bytes int64) (time.Duration, error) {
	st, err := n.session.OpenStream()
	if err != nil {
		return 0, err
	}
	defer st.Close()
	began := time.Now()
	end := n.session.Meter().Begin()
	defer end()
	ask := binary.BigEndian.AppendUint64(nil, uint64(bytes))
	if _, err := st.Write(ask); err != nil {
		return 0, err
	}
	if _, err := io.CopyN(io.Discard, st, bytes); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// serve answers the requests of a session until it ends.
func serve(s *mux.Session) {
	data := make([]byte, longest)
	for {
		st, err := s.AcceptStream()
		if err != nil {
			return
		}
		go answer(st, data)
	}
}

// answer sends as much of data as a stream asks for.
func answer(st *yamux.Stream, data []byte) {
	defer st.Close()
	var ask [askSize]byte
	if _, err := io.ReadFull(st, ask[:]); err != nil {
		return
	}
	n := min(binary.BigEndian.Uint64(ask[:]), uint64(len(data)))
	st.Write(data[:n])
}
