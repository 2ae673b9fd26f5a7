package fetcher

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/ranking"
)

// fatalist is what both kinds of test have.
type fatalist interface {
	Fatal(...any)
}

// ended is a transfer that has brought some bytes from an offset on.
func ended(t fatalist, parent *transfer, offset int64, brought []byte) *transfer {
	sp, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sp.Write(brought); err != nil {
		t.Fatal(err)
	}
	tr := &transfer{pick: ranking.Pick{Offset: offset}, parent: parent, spool: sp, ended: make(chan struct{})}
	close(tr.ended)
	return tr
}

// TestParts: whatever each brought beyond where the next took over, the datum is
// put together from all of them.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		datum := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "datum")
		var chain []*transfer
		defer func() {
			for _, tr := range chain {
				tr.spool.close()
			}
		}()
		var last *transfer
		at := 0
		for range rapid.IntRange(0, 3).Draw(t, "hedges") {
			next := rapid.IntRange(at, len(datum)).Draw(t, "from")
			more := rapid.IntRange(next, len(datum)).Draw(t, "until") // came before it was ended
			last = ended(t, last, int64(at), datum[at:more])
			chain, at = append(chain, last), next
		}
		last = ended(t, last, int64(at), datum[at:])
		chain = append(chain, last)
		got, err := io.ReadAll(io.MultiReader(new(job).parts(last)...))
		if err != nil || !bytes.Equal(got, datum) {
			t.Fatalf("%d parts make %x, %v; want %x", len(chain), got, err, datum)
		}
		size, err := verify(sha256.Sum256(datum), "", new(job).parts(last))
		if err != nil || size != int64(len(datum)) {
			t.Fatalf("%d bytes, %v", size, err)
		}
	})
}

func TestVerify(t *testing.T) {
	data, hash := datum(3, 1000)
	parts := func(b []byte) []io.Reader { return []io.Reader{bytes.NewReader(b[:10]), bytes.NewReader(b[10:])} }
	dir := t.TempDir()
	if n, err := verify(hash, dir, parts(data)); n != 1000 || err != nil || !store.Has(t.Context(), dir, hash) {
		t.Errorf("kept: %d, %v", n, err)
	}
	for _, where := range []string{"", t.TempDir()} {
		if _, err := verify(hash, where, parts(data[1:])); !errors.Is(err, store.ErrMismatch) {
			t.Errorf("another datum: %v", err)
		}
		if where != "" {
			if left, _ := os.ReadDir(where); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		}
	}
	broken := []io.Reader{bytes.NewReader(data), errReader{}}
	for _, where := range []string{"", t.TempDir()} {
		if _, err := verify(hash, where, broken); !errors.Is(err, errBroken) {
			t.Errorf("a spool that can't be read: %v", err)
		}
	}
}

var errBroken = errors.New("broken")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

func TestNoRoomForSpools(t *testing.T) {
	data, hash := datum(1, 1000)
	_, s := files(t, data)
	h := newHost(t, nil)
	h.join("a", s, behave.Behaviour{})
	t.Setenv("TMPDIR", "/dev/null")
	if _, err := h.Fetch(t.Context(), Request{Hash: hash}); err == nil {
		t.Error("fetched without a place for it")
	}
	if st := h.standing("a"); st.Failures != 0 || st.Outstanding != 0 {
		t.Errorf("standing %+v", st)
	}
}

// TestTell: each way to fail is told as what it is. The ranker repeats what it was
// told where the fetch was critical.
func TestTell(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	tests := map[string]struct {
		ctx  context.Context
		err  error
		want string // "" for no failure
	}{
		"interrupted": {over, node.ErrVanished, ""},
		"not there":   {t.Context(), &wire.Refusal{Code: wire.CodeNotFound}, "not_found"},
		"refused":     {t.Context(), &wire.Refusal{Code: wire.CodeBusy}, "reset"},
		"silent":      {t.Context(), fmt.Errorf("a: %w", node.ErrStalled), "timed_out"},
		"gone":        {t.Context(), fmt.Errorf("a: %w", node.ErrVanished), "disconnected"},
		"nonsense":    {t.Context(), wire.ErrMalformed, "reset"},
	}
	data, hash := datum(1, 1000)
	_, s := files(t, data)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, nil)
			h.join("a", s, behave.Behaviour{})
			_, f := h.begin("a", ranking.Query{Datum: hash.String(), Critical: true})
			tr := &transfer{fetch: f}
			tr.tell(tt.ctx, h.Now(), tt.err)
			got := ""
			for _, e := range h.Ranker().Events() {
				if e.Kind == ranking.CriticalMissed {
					got = e.Detail
				}
			}
			if got != tt.want {
				t.Errorf("told of %q, want %q", got, tt.want)
			}
		})
	}
}

// TestManyAtOnce: fetches share peers, and nothing is mixed up or left over.
func TestManyAtOnce(t *testing.T) {
	var data [][]byte
	var hashes []wire.Hash
	for i := range 6 {
		d, h := datum(byte(i), 20_000*(i+1))
		data, hashes = append(data, d), append(hashes, h)
	}
	_, s := files(t, data...)
	h := newHost(t, nil)
	peers := map[string]*node.Peer{}
	for id, how := range map[string]behave.Behaviour{"a": {}, "b": {Disk: 1e6}, "c": {Delay: 10e6}, "d": {Vanish: 60_000}} {
		peers[id] = h.join(id, s, how)
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			n := i % len(data)
			res, err := h.Fetch(t.Context(), Request{Hash: hashes[n], Critical: i%5 == 0})
			if err != nil || res.Size != int64(len(data[n])) {
				t.Errorf("datum %d: %d bytes, %v", n, res.Size, err)
			}
		})
	}
	wg.Wait()
	h.Close() // trials too
	for id, p := range peers {
		h.idle(p, id)
	}
	for i, hash := range hashes {
		if !store.Has(t.Context(), h.cfg.Dir, hash) {
			t.Errorf("datum %d is not there", i)
		}
	}
}

// TestSizesAreBounded: what is remembered of verified data is forgotten in the end.
func TestSizesAreBounded(t *testing.T) {
	h := newHost(t, nil)
	for i := range mostSizes + 1 {
		h.verified(wire.Hash{byte(i), byte(i >> 8), byte(i >> 16)}, int64(i))
	}
	if n := len(h.sizes); n > mostSizes {
		t.Errorf("%d sizes", n)
	}
	if h.size(wire.Hash{0, 0, 1}) != mostSizes || h.size(wire.Hash{9, 9, 9}) != 0 {
		t.Error("the newest is forgotten, or an unknown one known")
	}
}

func TestFrom(t *testing.T) {
	res := Result{Parts: []Part{{Peer: "a"}, {Peer: "b"}, {Peer: "c", Err: errLost}}}
	if res.From() != "b" || (Result{}).From() != "" {
		t.Errorf("from %q and %q", res.From(), (Result{}).From())
	}
}
