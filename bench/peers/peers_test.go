package peers

import (
	"bytes"
	"errors"
	"io"
	"log"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var starters = []struct {
	name  string
	start Starter
	pings bool
}{
	{"raw", Raw, false},
	{"hashicorp", Hashicorp, true},
	{"libp2p", Libp2p, true},
	{"smux", Smux, false},
}

func TestEcho(t *testing.T) {
	for _, tt := range starters {
		t.Run(tt.name, func(t *testing.T) {
			near, far := pair(t, tt.start)
			a, err := near.Open()
			if err != nil {
				t.Fatal(err)
			}
			sent := []byte("a stream is seen by its first bytes")
			if _, err := a.Write(sent); err != nil {
				t.Fatal(err)
			}
			b, err := far.Accept()
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(sent))
			if err := b.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(b, got); err != nil || !bytes.Equal(got, sent) {
				t.Fatalf("got %q, %v", got, err)
			}
			d, err := near.Ping()
			if tt.pings && (err != nil || d <= 0) || !tt.pings && !errors.Is(err, ErrNoPing) {
				t.Errorf("Ping returned %v, %v", d, err)
			}
		})
	}
}

func pair(t *testing.T, start Starter) (near, far Session) {
	t.Helper()
	c, s, err := TCP()
	if err != nil {
		t.Fatal(err)
	}
	if near, err = start(c, Client, io.Discard); err != nil {
		t.Fatal(err)
	}
	if far, err = start(s, Server, io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	return near, far
}

func TestOpenAfterClose(t *testing.T) {
	for _, tt := range starters[1:] {
		t.Run(tt.name, func(t *testing.T) {
			near, _ := pair(t, tt.start)
			near.Close()
			if s, err := near.Open(); err == nil || s != nil {
				t.Errorf("Open returned %v, %v on a closed session", s, err)
			}
		})
	}
}

func TestRawHasOneStream(t *testing.T) {
	near, _ := pair(t, Raw)
	if _, err := near.Open(); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Open(); err == nil {
		t.Error("a second stream was opened on a bare connection")
	}
}

func TestLog(t *testing.T) {
	var l Log
	out := log.New(&l, "", log.LstdFlags)
	out.Print("[WARN] one")
	out.Print("[ERR] two")
	out.Print("[WARN] three")
	if n := len(l.Lines()); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
	if n := l.Count("[WARN]"); n != 2 {
		t.Errorf("%d warnings, want 2", n)
	}
}
