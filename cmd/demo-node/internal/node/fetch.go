package node

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// Timing is how long a fetch took, and how long it should have. Times run from
// the request.
type Timing struct {
	Predicted time.Duration // before it began; 0 if too little was known
	FirstByte time.Duration // to the first byte of the file; 0 if there was none
	Whole     time.Duration // to the last
}

// Fetch writes a file of the peer's to w, from an offset on. It counts as
// outstanding for the peer's meter from the request to the last byte read: what
// w does with that byte is no longer the peer's time. Progress, if not nil, is
// told of all bytes as they come. The error is a *wire.Refusal, ErrSize,
// ErrStalled, ErrVanished, w's, or the cause of ctx.
func (p *Peer) Fetch(ctx context.Context, o wire.Offer, offset int64, w io.Writer, progress func(int)) (Timing, error) {
	want := max(o.Size-offset, 0)
	var t Timing
	reading := p.Meter().Reading()
	path := p.path(&reading)
	t.Predicted, _ = p.predict(want, &reading, path)
	f := fetch{peer: p, left: want, w: w, progress: progress, timing: &t}
	p.outstanding.Add(want)
	defer func() { p.outstanding.Add(-f.left) }()
	f.end = p.Meter().Begin()
	defer f.end()
	f.began = time.Now()
	err := p.ask(ctx, wire.AppendGet(nil, wire.Get{Hash: o.Hash, Offset: offset}), f.take)
	p.learn(path, &reading, want-f.left)
	return t, err
}

// fetch is one fetch under way.
type fetch struct {
	peer     *Peer
	left     int64 // bytes still to come
	w        io.Writer
	progress func(int)
	timing   *Timing
	began    time.Time
	end      func()
}

// take reads the answer.
func (f *fetch) take(r io.Reader) error {
	size, err := wire.ReadData(r)
	if err != nil {
		return err
	}
	if size != f.left {
		return fmt.Errorf("%w (%d bytes, advertised %d)", ErrSize, size, f.left)
	}
	buf := make([]byte, chunk)
	for f.left > 0 {
		n, err := r.Read(buf[:min(int64(len(buf)), f.left)])
		f.arrived(n)
		if _, werr := f.w.Write(buf[:n]); werr != nil {
			return werr
		}
		if err != nil && f.left > 0 {
			return err
		}
	}
	f.finish()
	return nil
}

// arrived counts bytes, before anything is done with them.
func (f *fetch) arrived(n int) {
	if n == 0 {
		return
	}
	f.left -= int64(n)
	if f.timing.FirstByte == 0 {
		f.timing.FirstByte = time.Since(f.began)
	}
	if f.left == 0 {
		f.finish()
	}
	f.peer.arrived(n)
	if f.progress != nil {
		f.progress(n)
	}
}

// finish stops the clocks, once.
func (f *fetch) finish() {
	if f.timing.Whole == 0 {
		f.timing.Whole = time.Since(f.began)
		f.end()
	}
}

// Download fetches a file into a directory, where it appears under its hash
// once it is whole and right; else nothing of it stays. The errors are those of
// Fetch, store.ErrMismatch and those of storing.
func (p *Peer) Download(ctx context.Context, o wire.Offer, dir string, progress func(int)) (Timing, error) {
	in, err := store.Create(dir, o.Hash)
	if err != nil {
		return Timing{}, err
	}
	defer in.Abort()
	t, err := p.Fetch(ctx, o, 0, in, progress)
	if err != nil {
		return t, err
	}
	return t, in.Commit()
}
