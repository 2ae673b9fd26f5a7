package lab_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
)

// sessions runs bare yamux over both ends of a link, with a stream window of
// 16 MiB.
func sessions(t *testing.T, l lab.Link) (client, server *yamux.Session) {
	t.Helper()
	cfg := yamux.DefaultConfig()
	cfg.LogOutput = io.Discard
	cfg.MaxStreamWindowSize = 16 << 20
	a, b := lab.Pair(l)
	client, err1 := yamux.Client(lab.WholeFrames(a), cfg)
	server, err2 := yamux.Server(lab.WholeFrames(b), cfg)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return client, server
}

// serve answers one stream: a byte asks for n, sent in so many writes. It sends
// on the channel when it began to write.
func serve(s *yamux.Session, n, writes int) <-chan time.Time {
	began := make(chan time.Time, 1)
	go func() {
		st, err := s.AcceptStream()
		if err != nil {
			return
		}
		defer st.Close()
		if _, err := io.ReadFull(st, make([]byte, 1)); err == nil {
			began <- time.Now()
			for range writes {
				st.Write(make([]byte, n/writes))
			}
		}
	}()
	return began
}

// TestBareYamuxFirstByte pins what the shim is there to better: the first byte
// of a 1 MiB write waits for the last.
func TestBareYamuxFirstByte(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		client, server := sessions(t, lab.Link{Rate: 10 * lab.Mbit, OneWay: 50 * time.Millisecond})
		defer client.Close()
		defer server.Close()
		began := serve(server, 1<<20, 1)
		st, err := client.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		st.Write([]byte{1})
		if _, err := io.ReadFull(st, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		got := time.Since(<-began)
		if want := 889 * time.Millisecond; (got - want).Abs() > time.Millisecond {
			t.Errorf("first byte %v after the write began, want %v", got, want)
		}
		io.Copy(io.Discard, st)
	})
}

// TestPacedReaders is the case that stands still without WholeFrames: readers
// that work between reads, several streams at once.
func TestPacedReaders(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		client, server := sessions(t, lab.Link{Rate: 10 * lab.Mbit, OneWay: 10 * time.Millisecond, SlowStart: true})
		done := make(chan int)
		for range 3 {
			serve(server, 1<<20, 8)
			go func() { done <- pacedRead(client) }()
		}
		for range 3 {
			if n := <-done; n != 1<<20 {
				t.Errorf("read %d bytes, want %d", n, 1<<20)
			}
		}
		client.Close()
		server.Close()
	})
}

// pacedRead fetches one stream in 16 KiB pieces with 3 ms of work after each.
func pacedRead(s *yamux.Session) (n int) {
	st, err := s.OpenStream()
	if err != nil {
		return 0
	}
	defer st.Close()
	st.Write([]byte{1})
	buf := make([]byte, 16<<10)
	for {
		k, err := st.Read(buf)
		if n += k; err != nil {
			return n
		}
		time.Sleep(3 * time.Millisecond)
	}
}

// TestIdleKeepalive lets yamux's own timers run for ten minutes.
func TestIdleKeepalive(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		client, server := sessions(t, lab.Link{Rate: lab.Mbit, OneWay: 100 * time.Millisecond})
		time.Sleep(10 * time.Minute)
		if client.IsClosed() || server.IsClosed() {
			t.Error("the session died of idleness")
		}
		rtt, err := client.Ping()
		if want := 200 * time.Millisecond; err != nil || (rtt-want).Abs() > time.Millisecond {
			t.Errorf("ping: %v, %v; want about %v", rtt, err, want)
		}
		client.Close()
		server.Close()
	})
}
