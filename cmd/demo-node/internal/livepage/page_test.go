package livepage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/internal/lab/bubble"
	"github.com/assay-mux/assay/mux"
)

// still is a source of one peer that counts how often it is looked at.
type still struct {
	looks atomic.Int64
	left  atomic.Bool
}

func (s *still) View() View {
	s.looks.Add(1)
	return View{Ranked: true, Size: 9, Peers: []Peer{judged("a", time.Second)}}
}

func (s *still) Snapshot(peer string) (mux.Snapshot, bool) {
	snap := mux.Snapshot{At: time.Second, Burst: burst.State{Gate: burst.Open, Opened: time.Millisecond, Deadline: 2 * time.Second}}
	snap.Burst.Bursts[burst.FetchEnd] = 4
	return snap, peer == "a" && !s.left.Load()
}

// pipe is a client's end: it keeps what is written, and blocks while it is stuck.
type pipe struct {
	header http.Header
	stuck  chan struct{} // a write waits for it, if it is not nil

	mu       sync.Mutex
	text     bytes.Buffer
	code     int
	deadline time.Time
}

func (p *pipe) Header() http.Header { return p.header }
func (p *pipe) Flush()              {}
func (p *pipe) WriteHeader(code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code = code
}

func (p *pipe) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	return nil
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	first, left := p.text.Len() == 0, time.Until(p.deadline)
	p.mu.Unlock()
	if p.stuck != nil && !first {
		select {
		case <-p.stuck:
		case <-time.After(left):
			return 0, os.ErrDeadlineExceeded
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// message of a kind, as they came.
func (p *pipe) messages(kind string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for m := range strings.SplitSeq(p.text.String(), "\n\n") {
		if data, ok := strings.CutPrefix(m, "event: "+kind+"\ndata: "); ok {
			all = append(all, data)
		}
	}
	return all
}

// numbers are those of the frames that came.
func (p *pipe) numbers(t *testing.T) []uint64 {
	t.Helper()
	var all []uint64
	for _, text := range p.messages("frame") {
		var f frame
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		all = append(all, f.Number)
	}
	return all
}

// ask sends a request and returns what its answer goes to, and a way to end it and
// wait for that.
func ask(t *testing.T, page *Page, url string, stuck chan struct{}) (*pipe, func()) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &pipe{header: make(http.Header), stuck: stuck}
	done := make(chan struct{})
	go func() {
		defer close(done)
		page.ServeHTTP(p, httptest.NewRequestWithContext(ctx, http.MethodGet, url, nil))
	}()
	return p, func() { cancel(); <-done }
}

// TestCadence: without anybody who looks, only a point a second is taken; with
// someone, frames come twice a second, from the first moment on.
func TestCadence(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		src := new(still)
		page := New(src)
		defer page.Close()
		time.Sleep(10*time.Second + 10*time.Millisecond)
		if n := src.looks.Load(); n != 10 || page.latest != nil {
			t.Errorf("unwatched it looked %d times in 10 s, and made a frame: %v", n, page.latest != nil)
		}
		client, end := ask(t, page, "/live/frames", nil)
		synctest.Wait()
		if n := client.numbers(t); len(n) != 1 {
			t.Errorf("frames %v at once", n)
		}
		time.Sleep(10 * time.Second)
		if n := client.numbers(t); len(n) != 21 || n[20] != 21 {
			t.Errorf("frames %v in 10 s", n)
		}
		end()
		before := src.looks.Load()
		time.Sleep(10 * time.Second)
		if n := src.looks.Load() - before; n != 10 {
			t.Errorf("it looked %d times in 10 s after the client left", n)
		}
		// What is long past is not shown as if it were now.
		client, end = ask(t, page, "/live/frames", nil)
		defer end()
		synctest.Wait()
		if n := client.numbers(t); len(n) != 1 || n[0] != 22 {
			t.Errorf("frames %v for one who comes later", n)
		}
	})
}

// TestManyClientsCostOneLook: clients that come and go make no more frames.
func TestManyClientsCostOneLook(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		src := new(still)
		page := New(src)
		defer page.Close()
		for range 100 {
			_, end := ask(t, page, "/live/frames", nil)
			time.Sleep(10 * time.Millisecond)
			end()
		}
		if n := src.looks.Load(); n > 12 {
			t.Errorf("looked %d times in a second", n)
		}
	})
}

// TestSlowClient: one that does not read holds up nobody, gets the newest frame
// when it reads again, and is cut off if it does not.
func TestSlowClient(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		page := New(new(still))
		defer page.Close()
		stuck := make(chan struct{})
		slow, endSlow := ask(t, page, "/live/frames", stuck)
		defer endSlow()
		quick, endQuick := ask(t, page, "/live/frames", nil)
		defer endQuick()
		time.Sleep(5 * time.Second)
		if n := quick.numbers(t); len(n) < 10 {
			t.Errorf("the quick one got frames %v", n)
		}
		stuck <- struct{}{} // what it was sent first
		stuck <- struct{}{} // and then the newest
		synctest.Wait()
		if n := slow.numbers(t); len(n) != 2 || n[1] < 10 {
			t.Errorf("the slow one got frames %v", n)
		}
		time.Sleep(writeLimit + time.Second)
		page.mu.Lock()
		defer page.mu.Unlock()
		if page.clients != 1 {
			t.Errorf("%d clients, want the quick one alone", page.clients)
		}
	})
}

// TestTooManyClients are told so, and room is made by those who leave.
func TestTooManyClients(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		page := New(new(still))
		defer page.Close()
		var ends []func()
		for range mostClients {
			_, end := ask(t, page, "/live/frames", nil)
			ends = append(ends, end)
		}
		synctest.Wait()
		for _, url := range []string{"/live/frames", "/live/peer?name=a"} {
			client, end := ask(t, page, url, nil)
			synctest.Wait()
			end()
			if client.code != http.StatusServiceUnavailable || client.header.Get("Retry-After") == "" {
				t.Errorf("%s: %d, %v", url, client.code, client.header)
			}
		}
		ends[0]()
		client, end := ask(t, page, "/live/frames", nil)
		synctest.Wait()
		if client.code != 0 || len(client.numbers(t)) != 1 {
			t.Errorf("once there is room: %d", client.code)
		}
		end()
		for _, end := range ends {
			end()
		}
		if page.clients != 0 {
			t.Errorf("%d clients are left", page.clients)
		}
	})
}

// TestPeer: its past, then its window ten times a second, its row with each frame,
// a point each second, and that it left.
func TestPeer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		src := new(still)
		page := New(src)
		defer page.Close()
		time.Sleep(3*time.Second + 10*time.Millisecond)
		client, end := ask(t, page, "/live/peer?name=a", nil)
		defer end()
		time.Sleep(5*time.Second - time.Millisecond)
		if n := len(columnsOf(t, []byte(client.messages("history")[0]))["at"]); n != 3 {
			t.Errorf("%d points of the past", n)
		}
		if w, p := len(client.messages("window")), len(client.messages("point")); w != 50 || p != 5 {
			t.Errorf("%d windows and %d points in 5 s", w, p)
		}
		rows := client.messages("row")
		if n := len(rows); n != 9 { // the first frame after it came, and each until 0.1 s ago
			t.Errorf("%d rows in 5 s", n)
		}
		var r row
		if err := json.Unmarshal([]byte(rows[0]), &r); err != nil {
			t.Fatal(err)
		}
		if want := judged("a", time.Second); r.Peer != "a" || r.Completions != want.Standing.Completions || r.Last == nil {
			t.Errorf("%+v", r)
		}
		var w window
		if err := json.Unmarshal([]byte(client.messages("window")[0]), &w); err != nil {
			t.Fatal(err)
		}
		if w.Gate != "open" || w.At != 1 || w.Opened != 0.001 || w.Deadline != 2 || w.Closed["fetch_end"] != 4 || len(w.Closed) != int(burst.Reasons) {
			t.Errorf("%+v", w)
		}
		src.left.Store(true)
		time.Sleep(2 * time.Second)
		if n := len(client.messages("gone")); n != 2 {
			t.Errorf("told %d times in 2 s that it is gone", n)
		}
		stranger, end := ask(t, page, "/live/peer?name=b", nil)
		synctest.Wait()
		end()
		if stranger.code != http.StatusNotFound {
			t.Errorf("of a stranger: %d", stranger.code)
		}
	})
}

// TestClose ends the streams of a page.
func TestClose(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		page := New(new(still))
		_, endFrames := ask(t, page, "/live/frames", nil)
		_, endPeer := ask(t, page, "/live/peer?name=a", nil)
		time.Sleep(time.Second)
		page.Close()
		synctest.Wait()
		page.mu.Lock()
		n := page.clients
		page.mu.Unlock()
		if n != 0 {
			t.Errorf("%d streams go on", n)
		}
		endFrames()
		endPeer()
	})
}

// TestOverHTTP: it is what it says over a real connection too.
func TestOverHTTP(t *testing.T) {
	page := New(new(still))
	defer page.Close()
	server := httptest.NewServer(page.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "rest of ", r.URL.Path) })))
	defer server.Close()
	resp, err := server.Client().Get(server.URL + "/live/frames")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type %q", got)
	}
	var text []byte
	for part := make([]byte, 4096); !bytes.HasSuffix(text, []byte("}\n\n")); {
		n, err := resp.Body.Read(part)
		if text = append(text, part[:n]...); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(text, []byte("retry: 1000\n\nevent: frame\ndata: {\"number\":1,")) {
		t.Errorf("%s", text)
	}
}
