package livepage

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	// windowEvery is how often the burst window of an open peer is looked at: a
	// burst lasts from tens of milliseconds to seconds.
	windowEvery = 100 * time.Millisecond
	// windowsPerPoint is how many windows go before each look for a new point.
	windowsPerPoint = 10
	// writeLimit is how long a client may take over one message. Longer keeps what
	// serves a client that reads nothing.
	writeLimit = 10 * time.Second
)

// stream is the answer to one client.
type stream struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	gone <-chan struct{} // closed when the client is
	done <-chan struct{} // closed when the page ends
}

// open begins an answer, and says whether it could. Call leave at its end.
func (p *Page) open(w http.ResponseWriter, r *http.Request) (*stream, bool) {
	if !p.enter() {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many pages are open, close some", http.StatusServiceUnavailable)
		return nil, false
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	s := &stream{w: w, ctl: http.NewResponseController(w), gone: r.Context().Done(), done: p.done}
	if !s.send([]byte("retry: 1000\n\n")) {
		p.leave()
		return nil, false
	}
	return s, true
}

// send writes a message, and says whether the client took it in time.
func (s *stream) send(text []byte) bool {
	_ = s.ctl.SetWriteDeadline(time.Now().Add(writeLimit)) // a test's recorder has none
	if _, err := s.w.Write(text); err != nil {
		return false
	}
	return s.ctl.Flush() == nil
}

// wait waits for one of two things, or returns false when the stream has ended.
func (s *stream) wait(news <-chan struct{}, tick <-chan time.Time) bool {
	select {
	case <-news:
	case <-tick:
	case <-s.gone:
		return false
	case <-s.done:
		return false
	}
	return true
}

// frames sends each frame that the client is ready for.
func (p *Page) frames(w http.ResponseWriter, r *http.Request) {
	s, ok := p.open(w, r)
	if !ok {
		return
	}
	defer p.leave()
	var number uint64
	for {
		text, n, next := p.frameAfter(number)
		switch {
		case text == nil:
			if number == 0 {
				p.hurry()
			}
			if !s.wait(next, nil) {
				return
			}
		case !s.send(text):
			return
		default:
			number = n
		}
	}
}

// hurry asks for a frame now.
func (p *Page) hurry() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// peer sends the past of one peer, and then its burst window, each new row and each
// new point.
func (p *Page) peer(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	if _, ok := p.src.Snapshot(name); !ok {
		http.Error(w, "no such peer is connected", http.StatusNotFound)
		return
	}
	s, ok := p.open(w, r)
	if !ok {
		return
	}
	defer p.leave()
	if text, ok := p.historyOf(name, historyLength); ok && !s.send(message("history", text)) {
		return
	}
	t := time.NewTicker(windowEvery)
	defer t.Stop()
	var number uint64
	for n := 1; p.sendRow(s, name, &number) && p.sendWindow(s, name, n); n++ {
		if !s.wait(nil, t.C) {
			return
		}
	}
}

// sendRow sends the row of a peer if there is a newer one than that of the number
// given, which it moves on.
func (p *Page) sendRow(s *stream, name string, number *uint64) bool {
	r, n := p.rowAfter(*number, name)
	*number = n
	if r == nil {
		return true
	}
	text, err := json.Marshal(r)
	return err == nil && s.send(message("row", text))
}

// sendWindow sends the burst window of a peer, and now and then its latest point.
// A peer that left is said to have, and the stream goes on until its client ends
// it: the peer may come again.
func (p *Page) sendWindow(s *stream, name string, n int) bool {
	snap, ok := p.src.Snapshot(name)
	if !ok {
		return n%windowsPerPoint != 0 || s.send(message("gone", []byte("{}")))
	}
	text, err := json.Marshal(newWindow(snap))
	if err != nil || !s.send(message("window", text)) {
		return false
	}
	if n%windowsPerPoint != 0 {
		return true
	}
	// Two, so that a late look misses none; the page drops what it has.
	point, ok := p.historyOf(name, 2)
	return !ok || s.send(message("point", point))
}
