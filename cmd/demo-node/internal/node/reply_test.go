package node

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

func TestGet(t *testing.T) {
	files := offering(t, content)
	p := dial(t, Config{}, serving(t, Config{Store: files}))
	hash := files.Offers()[0].Hash
	for name, offset := range map[string]int64{"whole": 0, "a range": 100, "nothing": int64(len(content)), "beyond": 1 << 40} {
		r, err := p.Get(t.Context(), hash, offset)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := content[min(offset, int64(len(content))):]
		got, err := io.ReadAll(r)
		if r.Size != int64(len(want)) || !bytes.Equal(got, want) || err != nil {
			t.Errorf("%s: %d of %d bytes, %v", name, len(got), r.Size, err)
		}
		r.Close()
	}
	if _, err := p.Get(t.Context(), wire.Hash{1}, 0); !errors.Is(err, wire.ErrNotFound) {
		t.Errorf("not there: %v", err)
	}
}

// TestGetLastByte: the end comes with the last byte, and not a read later.
func TestGetLastByte(t *testing.T) {
	files := offering(t, []byte("datum"))
	p := dial(t, Config{}, serving(t, Config{Store: files}))
	r, err := p.Get(t.Context(), files.Offers()[0].Hash, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	buf := make([]byte, 100)
	for got := 0; ; {
		n, err := r.Read(buf)
		if got += n; (got == 5) != (errors.Is(err, io.EOF)) {
			t.Fatalf("%d bytes and %v", got, err)
		}
		if err != nil {
			return
		}
	}
}

// TestGetEnds: the end of the context resets the stream at once, and the session
// goes on.
func TestGetEnds(t *testing.T) {
	files := offering(t, content)
	p := dial(t, Config{}, serving(t, Config{Store: files, Behave: behave.Behaviour{Drip: 1000}}))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := p.Get(ctx, files.Offers()[0].Hash, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if p.Meter().Snapshot().Counts.Resets != 1 {
		t.Error("the stream was not reset")
	}
	if _, err := p.List(t.Context()); err != nil {
		t.Errorf("the session afterwards: %v", err)
	}
	if _, err := p.Get(ctx, files.Offers()[0].Hash, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("begun afterwards: %v", err)
	}
}

func TestVanishing(t *testing.T) {
	files := offering(t, content)
	hash := files.Offers()[0].Hash
	p := dial(t, Config{}, serving(t, Config{Store: files, Behave: behave.Behaviour{Vanish: 1000}}))
	r, err := p.Get(t.Context(), hash, 0)
	got := 0
	if err == nil { // else it was gone before we had read the head
		var b []byte
		b, err = io.ReadAll(r)
		got = len(b)
		r.Close()
	}
	if got > 1000 || !errors.Is(err, ErrVanished) {
		t.Errorf("%d bytes, %v", got, err)
	}
	<-p.Gone()
	if _, err := p.Get(t.Context(), hash, 0); !errors.Is(err, ErrVanished) {
		t.Errorf("afterwards: %v", err)
	}
	p.Disconnect() // again
}

// TestHeldEchoes: they come later by as much, and the data don't.
func TestHeldEchoes(t *testing.T) {
	files := offering(t, content)
	const hold = 150 * time.Millisecond
	p := dial(t, Config{}, serving(t, Config{Store: files, Behave: behave.Behaviour{Hold: hold, Understate: 2}}))
	began := time.Now()
	offers, err := p.List(t.Context())
	if err != nil || offers[0].Size != int64(len(content)/2) {
		t.Fatalf("%v, %v", offers, err)
	}
	r, err := p.Get(t.Context(), offers[0].Hash, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); len(got) != len(content) || err != nil {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if took := time.Since(began); took > 10*hold {
		t.Errorf("the data took %v", took)
	}
	for p.Meter().Snapshot().RTT.Samples == 0 {
		if _, err := p.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	s := p.Meter().Snapshot()
	if s.RTT.P50 < hold {
		t.Errorf("the median round trip is %v, echoes are held for %v", s.RTT.P50, hold)
	}
	if s.RTT.Base > hold/2 {
		t.Errorf("the base is %v: the handshake knows better", s.RTT.Base)
	}
}

func TestPeerAddr(t *testing.T) {
	p := dial(t, Config{}, serving(t, Config{}))
	if got := p.Addr().String(); got != "127.0.0.1" {
		t.Errorf("address %s", got)
	}
}
