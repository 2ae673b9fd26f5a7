package livepage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// frameEvery is the time between frames, and framesPerPoint how many of them
	// make a point of a history. Faster is more than a person can read, and twice
	// the work for node and browser.
	frameEvery     = 500 * time.Millisecond
	framesPerPoint = 2
	// wakeAfter is how soon after a frame a new client may get another, so that
	// clients that keep coming cost no more than ten frames a second.
	wakeAfter = 100 * time.Millisecond
)

// Page is what a node serves to those who watch it. Build it with New, end it
// with Close. Safe for concurrent use.
type Page struct {
	src    Source
	began  time.Time
	mux    *http.ServeMux
	cancel context.CancelFunc
	done   <-chan struct{} // closed by cancel: streams end
	ended  chan struct{}   // closed once no frame is made any more
	wake   chan struct{}   // has one item if a client waits for a frame

	mu      sync.Mutex
	clients int           // guarded by mu
	latest  []byte        // the newest frame as it is sent; guarded by mu
	number  uint64        // of it; guarded by mu
	rows    []row         // its peers; guarded by mu
	made    time.Time     // when; guarded by mu
	renewed chan struct{} // closed when the next frame is there; guarded by mu
	past    past          // guarded by mu
}

// New returns the page of a node.
func New(src Source) *Page {
	p := &Page{
		src: src, began: time.Now(), mux: http.NewServeMux(), ended: make(chan struct{}),
		wake: make(chan struct{}, 1), renewed: make(chan struct{}), past: make(past),
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.done = cancel, ctx.Done()
	p.route()
	go p.run()
	return p
}

// Close ends the page and what it sends. Requests under way end by themselves.
func (p *Page) Close() {
	p.cancel()
	<-p.ended
}

// run makes frames.
func (p *Page) run() {
	defer close(p.ended)
	t := time.NewTicker(frameEvery)
	defer t.Stop()
	for n := 0; ; n++ {
		select {
		case <-p.done:
			return
		case <-t.C:
			p.step(n%framesPerPoint == 0)
		case <-p.wake:
			n-- // not one of the ticker's
			if p.age() >= wakeAfter {
				p.step(false)
			}
		}
	}
}

// age is that of the newest frame.
func (p *Page) age() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.made)
}

// step looks at the node, if anyone watches or a point is due.
func (p *Page) step(point bool) {
	p.mu.Lock()
	watched := p.clients > 0
	p.mu.Unlock()
	if !watched && !point {
		return
	}
	v := p.src.View()
	now := time.Now()
	var text []byte
	var rows []row
	if watched {
		rows = newRows(v)
		text = p.encode(now, v, rows)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if point {
		p.past.add(now.Sub(p.began), &v)
	}
	if text == nil {
		return
	}
	p.latest, p.rows, p.made = text, rows, now
	p.number++
	close(p.renewed)
	p.renewed = make(chan struct{})
}

// encode makes the next frame as it is sent. Only run calls it.
func (p *Page) encode(now time.Time, v View, rows []row) []byte {
	text, err := json.Marshal(newFrame(p.number+1, now, v, rows))
	if err != nil {
		return nil // no value of ours is one that JSON lacks
	}
	return message("frame", text)
}

// message is a server-sent event.
func message(name string, data []byte) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data)
}

// mostClients is how many streams are served at once. A page has one, and one
// more while a peer is open.
const mostClients = 64

// enter lets a client in, false if there are too many. It must leave.
func (p *Page) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clients >= mostClients {
		return false
	}
	p.clients++
	return true
}

func (p *Page) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients--
}

// frameAfter returns the newest frame with its number if that is not the one of
// the number given, and else a channel that is closed when there is one. A frame
// from before someone last watched is none.
func (p *Page) frameAfter(number uint64) ([]byte, uint64, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest == nil || p.number == number || time.Since(p.made) > 2*frameEvery {
		return nil, number, p.renewed
	}
	return p.latest, p.number, nil
}

// rowAfter returns the row of a peer in the newest frame, nil if it has none, with
// the number of that frame; and nil if that is the one of the number given, or from
// before someone last watched.
func (p *Page) rowAfter(number uint64, peer string) (*row, uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number == number || time.Since(p.made) > 2*frameEvery {
		return nil, number
	}
	for i := range p.rows {
		if p.rows[i].Peer == peer {
			return &p.rows[i], p.number // rows change no more
		}
	}
	return nil, p.number
}

// historyOf returns the newest points of a peer's past as JSON; false if there
// are none.
func (p *Page) historyOf(peer string, most int) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.past[peer]
	if h == nil {
		return nil, false
	}
	return h.appendJSON(nil, most), true
}
