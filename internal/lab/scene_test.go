package lab_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/mux"
)

const megabyte = 1_000_000

// quietConfig is yamux's default with a stream window, without its log.
func quietConfig(window uint32) *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.MaxStreamWindowSize = window
	c.ConnectionWriteTimeout = time.Hour // slow links are the subject here
	c.StreamOpenTimeout = 0
	c.StreamCloseTimeout = time.Hour
	return c
}

const wide = 16 << 20 // the stream window unless said

// wholeFrames is the tap that keeps yamux from stopping the virtual clock.
func wholeFrames(c net.Conn) net.Conn { return lab.WholeFrames(c) }

// wrapped opens the measuring end of a link.
func wrapped(t testing.TB, conn net.Conn, window uint32, opts ...mux.Option) *mux.Session {
	t.Helper()
	opts = append([]mux.Option{mux.WithTap(wholeFrames), mux.WithWatcher(mux.NewWatcher())}, opts...)
	s, err := mux.Client(conn, quietConfig(window), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// honest serves, on each stream, as many bytes as its request asks for. It is
// wrapped, or bare and then sends frames as large as the window allows.
func honest(t testing.TB, conn net.Conn, shim bool) io.Closer {
	t.Helper()
	var accept func() (*yamux.Stream, error)
	var closer io.Closer
	if shim {
		s, err := mux.Server(conn, quietConfig(wide), mux.WithTap(wholeFrames), mux.WithWatcher(mux.NewWatcher()))
		if err != nil {
			t.Fatal(err)
		}
		accept, closer = s.AcceptStream, s
	} else {
		s, err := yamux.Server(lab.WholeFrames(conn), quietConfig(wide))
		if err != nil {
			t.Fatal(err)
		}
		accept, closer = s.AcceptStream, s
	}
	go func() {
		for {
			st, err := accept()
			if err != nil {
				return
			}
			go serveRequests(st)
		}
	}()
	return closer
}

func serveRequests(st *yamux.Stream) {
	var ask [8]byte
	for {
		if _, err := io.ReadFull(st, ask[:]); err != nil {
			st.Close()
			return
		}
		if _, err := st.Write(make([]byte, binary.BigEndian.Uint64(ask[:]))); err != nil {
			return
		}
	}
}

// requestOn asks for n bytes on a stream.
func requestOn(t testing.TB, st *yamux.Stream, n int) {
	t.Helper()
	var ask [8]byte
	binary.BigEndian.PutUint64(ask[:], uint64(n))
	if _, err := st.Write(ask[:]); err != nil {
		t.Fatal(err)
	}
}

// fetched is what one fetch took.
type fetched struct{ first, total time.Duration }

// fetchOn asks for n bytes and reads them, declared to the meter or not.
func fetchOn(t testing.TB, s *mux.Session, st *yamux.Stream, n int, declared bool) fetched {
	t.Helper()
	start := time.Now()
	end := func() {}
	if declared {
		end = s.Meter().Begin()
	}
	requestOn(t, st, n)
	var f fetched
	one := make([]byte, 1)
	if _, err := io.ReadFull(st, one); err != nil {
		t.Fatal(err)
	}
	f.first = time.Since(start)
	if _, err := io.CopyN(io.Discard, st, int64(n-1)); err != nil {
		t.Fatal(err)
	}
	end()
	f.total = time.Since(start)
	return f
}

func openStream(t testing.TB, s *mux.Session) *yamux.Stream {
	t.Helper()
	st, err := s.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// within says whether got is within tolerance (a fraction) of want.
func within(got, want, tolerance float64) bool {
	return got >= want*(1-tolerance) && got <= want*(1+tolerance)
}
