package lab

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

const (
	// yamuxHeader is the length of a yamux frame header in bytes; its second
	// byte is the type, its last four the length (yamux spec.md).
	yamuxHeader = 12

	// yamuxData is the one frame type whose length counts bytes that follow.
	yamuxData = 0

	// maxHeld is the largest frame held back, in bytes. Twice the 16 MiB stream
	// window that the tests use, so no honest frame reaches it; longer ones go up as
	// they come. Larger means that a forged length holds more memory.
	maxHeld = 32 << 20

	// heldChunk is how much is asked of the conn at once, in bytes. Larger than
	// yamux's own 4 KiB so that holding back costs no extra reads.
	heldChunk = 64 << 10
)

// WholeFrames returns a conn that hands up a yamux frame only when all of it
// has arrived, for virtual-time tests. It belongs right under yamux, above the
// shim, which must see every arrival.
//
// yamux holds a stream's lock while it waits for the rest of a Data frame. A
// goroutine that reads the stream meanwhile waits on that lock, which a
// synctest bubble does not count as waiting, so the virtual clock stands still
// and the test hangs. yamux shows no part of a frame before the whole is in, so
// what an application sees does not change.
//
// A held partial frame is handed up when the conn ends or fails, before its
// error; after a deadline it stays held for the next Read. Addresses and deadlines
// are those of c if it has them. One goroutine may read.
func WholeFrames(c io.ReadWriteCloser) net.Conn {
	return &wholeFrames{ReadWriteCloser: c}
}

type wholeFrames struct {
	io.ReadWriteCloser

	buf   []byte // buf[from:] is held
	from  int
	whole int   // how much of it may go up; the rest is a frame in part
	pass  int64 // bytes still to come of a frame too long to hold
	err   error // what follows buf
}

func (w *wholeFrames) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for w.whole == 0 {
		if w.err != nil {
			return 0, w.err
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.buf[w.from:w.from+w.whole])
	w.whole -= n
	w.from += n
	return n, nil
}

// fill reads once and looks how many bytes make whole frames. Its error is one
// to try again after.
func (w *wholeFrames) fill() error {
	n, err := w.ReadWriteCloser.Read(w.room())
	w.buf = w.buf[:len(w.buf)+n]
	w.scan()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if err != nil {
		w.whole, w.err = len(w.buf)-w.from, err
	}
	return nil
}

// room returns space behind the bytes held, moving or growing them if needed.
func (w *wholeFrames) room() []byte {
	if cap(w.buf)-len(w.buf) < heldChunk/2 && w.from > 0 {
		w.buf = w.buf[:copy(w.buf, w.buf[w.from:])]
		w.from = 0
	}
	if cap(w.buf)-len(w.buf) < heldChunk/2 {
		w.buf = append(make([]byte, 0, 2*len(w.buf)+heldChunk), w.buf...)
	}
	return w.buf[len(w.buf):cap(w.buf)]
}

// scan moves whole past every frame that is complete, or too long to hold.
func (w *wholeFrames) scan() {
	for {
		rest := w.buf[w.from+w.whole:]
		k := min(w.pass, int64(len(rest)))
		w.pass -= k
		w.whole += int(k)
		rest = rest[k:]
		if len(rest) < yamuxHeader {
			return
		}
		size := frameSize(rest)
		switch {
		case size > maxHeld:
			w.pass = size
		case size > int64(len(rest)):
			return
		default:
			w.whole += int(size)
		}
	}
}

// frameSize is the length in bytes of the frame that starts with h.
func frameSize(h []byte) int64 {
	if h[1] != yamuxData {
		return yamuxHeader
	}
	return yamuxHeader + int64(binary.BigEndian.Uint32(h[8:]))
}

func (w *wholeFrames) LocalAddr() net.Addr {
	if c, ok := w.ReadWriteCloser.(interface{ LocalAddr() net.Addr }); ok {
		return c.LocalAddr()
	}
	return Addr("local")
}

func (w *wholeFrames) RemoteAddr() net.Addr {
	if c, ok := w.ReadWriteCloser.(interface{ RemoteAddr() net.Addr }); ok {
		return c.RemoteAddr()
	}
	return Addr("remote")
}

func (w *wholeFrames) SetDeadline(t time.Time) error {
	if c, ok := w.ReadWriteCloser.(interface{ SetDeadline(time.Time) error }); ok {
		return c.SetDeadline(t)
	}
	return os.ErrNoDeadline
}

func (w *wholeFrames) SetReadDeadline(t time.Time) error {
	if c, ok := w.ReadWriteCloser.(interface{ SetReadDeadline(time.Time) error }); ok {
		return c.SetReadDeadline(t)
	}
	return os.ErrNoDeadline
}

func (w *wholeFrames) SetWriteDeadline(t time.Time) error {
	if c, ok := w.ReadWriteCloser.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return c.SetWriteDeadline(t)
	}
	return os.ErrNoDeadline
}
