package wire

import (
	"errors"
	"fmt"
)

// Code says why a peer refuses.
type Code uint8

// The codes of a refusal.
const (
	CodeNotFound Code = iota + 1
	CodeBadRequest
	CodeBusy
	CodeFailed
)

// What a Refusal is, by its code: errors.Is(err, ErrNotFound).
var (
	ErrNotFound   = errors.New("the peer does not have this file, ask another")
	ErrBadRequest = errors.New("the peer did not understand the request, compare versions")
	ErrBusy       = errors.New("the peer serves as many requests as it will, try again later")
	ErrFailed     = errors.New("the peer failed to serve the file, try again or ask another")
)

// Refusal is a reply that is no data. As an error it is one of ErrNotFound,
// ErrBadRequest, ErrBusy and ErrFailed.
type Refusal struct {
	Code Code
	Text string // the peer's own words, at most 256 bytes; not to be trusted
}

// Error quotes the peer, whose text may hold anything.
func (r *Refusal) Error() string {
	if r.Text == "" {
		return r.Unwrap().Error()
	}
	return fmt.Sprintf("%v (it says %q)", r.Unwrap(), r.Text)
}

// Unwrap returns the error that the code stands for; one of a later version is
// ErrFailed.
func (r *Refusal) Unwrap() error {
	switch r.Code {
	case CodeNotFound:
		return ErrNotFound
	case CodeBadRequest:
		return ErrBadRequest
	case CodeBusy:
		return ErrBusy
	case CodeFailed:
	}
	return ErrFailed
}

// AppendRefusal appends a refusal; its text is cut to 256 bytes.
func AppendRefusal(b []byte, r Refusal) []byte {
	text := r.Text[:min(len(r.Text), maxText)]
	b = appendHead(b, KindRefusal, 1+len(text))
	return append(append(b, byte(r.Code)), text...)
}
