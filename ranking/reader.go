package ranking

import (
	"errors"
	"io"
	"time"
)

// Reader reads a reply and tells its fetch what happens: the first byte, every read, the pauses between
// reads, the end, an error. It is what [Fetch.Reader] returns. Like most readers it is for one goroutine at a time.
type Reader struct {
	fetch *Fetch
	src   io.Reader
	clock func() time.Duration
	left  int64 // bytes of the range asked for; -1 to the end
	read  bool  // not for the first time
	done  bool  // the end was told
}

// Reader wraps src, the payload of the reply without any framing. clock is the caller's: it returns the
// instant of now, on the ranker's base. Close ends the fetch in any case; call Done on the fetch before
// it, once the hash is verified, or Fail with Corrupt.
func (f *Fetch) Reader(src io.Reader, clock func() time.Duration) *Reader {
	left := int64(-1)
	if f.pick.Bytes > 0 {
		left = f.pick.Bytes
	}
	return &Reader{fetch: f, src: src, clock: clock, left: left}
}

// Read reads from the source. After the last byte of a range that was asked for it returns io.EOF.
func (r *Reader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	if r.left > 0 && int64(len(p)) > r.left {
		p = p[:r.left]
	}
	r.resume()
	n, err := r.src.Read(p)
	now := r.clock()
	if n > 0 {
		r.fetch.Progress(now, n)
		if r.left > 0 {
			r.left -= int64(n)
		}
	}
	r.note(now, err)
	r.fetch.Pause(now)
	r.read = true
	return n, err
}

// resume ends the pause since the last read, whose bytes the host was busy with.
func (r *Reader) resume() {
	if r.read {
		r.fetch.Resume(r.clock())
	}
}

// note tells the end, once.
func (r *Reader) note(now time.Duration, err error) {
	switch {
	case r.done:
	case r.left == 0, errors.Is(err, io.EOF):
		r.done = true
		r.fetch.Received(now)
	case err != nil:
		r.done = true
		r.fetch.Fail(now, failureOf(err))
	}
}

// failureOf says what an error of a read means.
func failureOf(err error) Failure {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return TimedOut
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return Disconnected
	}
	return Reset
}

// Close ends the fetch if nothing else has: if the end was read as Done does for a part that proves
// nothing, else as given up. It closes the source if that can be closed.
func (r *Reader) Close() error {
	now := r.clock()
	if r.fetch.whole() {
		r.fetch.Done(now, 0)
	} else {
		r.fetch.Abort(now)
	}
	if c, ok := r.src.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// whole says whether the last byte was read.
func (f *Fetch) whole() bool {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	return f.received
}
