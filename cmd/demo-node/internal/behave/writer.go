package behave

import (
	"errors"
	"io"
	"time"
)

// Errors of a Writer.
var (
	// ErrVanished says that the connection is to be closed now.
	ErrVanished = errors.New("behave: vanishing in mid-reply, as told to")
	// ErrEnded says that the session ended while the next byte was not due.
	ErrEnded = errors.New("behave: the session ended in mid-reply")
)

// Writer returns a writer for the reply with a datum of a size, from the request
// on. It sleeps until bytes are due, or until done is closed. The errors are
// ErrVanished, ErrEnded and those of w. Not safe for concurrent use.
func (b Behaviour) Writer(w io.Writer, size int64, done <-chan struct{}) io.Writer {
	return &writer{b: b, w: w, size: size, done: done, began: time.Now()}
}

type writer struct {
	b          Behaviour
	w          io.Writer
	size, sent int64
	done       <-chan struct{}
	began      time.Time
}

func (w *writer) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		at, most := w.b.next(w.size, w.sent)
		if err := w.wait(at); err != nil {
			return written, err
		}
		if most == 0 {
			return written, ErrVanished
		}
		n, err := w.w.Write(p[written : written+int(min(most, int64(len(p)-written)))])
		written += n
		w.sent += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// wait sleeps until an instant since the request.
func (w *writer) wait(at time.Duration) error {
	left := at - time.Since(w.began)
	if left <= 0 {
		return nil
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-w.done:
		return ErrEnded
	}
}
