package metrics

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
	"go.uber.org/goleak"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/mux"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served is a real session with a bare yamux at the other end, which sends n
// bytes on each stream that says what to do by its first byte.
func served(t testing.TB, n int) *mux.Session {
	t.Helper()
	ours, theirs := connected(t)
	session, err := mux.Client(ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := yamux.Server(theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			st, err := peer.AcceptStream()
			if err != nil {
				return
			}
			if _, err := st.Read(make([]byte, 1)); err == nil {
				_, _ = st.Write(make([]byte, n))
			}
			st.Close()
		}
	}()
	t.Cleanup(func() {
		session.Close()
		peer.Close()
		<-done
	})
	return session
}

// connected is a TCP connection over loopback, both ends.
func connected(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return dialled, accepted
}

// fetch asks for what the peer serves and reads it all.
func fetch(t testing.TB, s *mux.Session) int64 {
	t.Helper()
	st, err := s.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	end := s.Meter().Begin()
	defer end()
	if _, err := st.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, st)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRealSession(t *testing.T) {
	const size = 4 << 20
	session := served(t, size)
	src := new(crowd)
	c := NewCollector(src, WithPerPeer(1))
	scrape := func() map[string]float64 {
		src.set(Of("peer", session.Meter()))
		return gather(t, c).series()
	}
	before := scrape()
	check(t, before, map[string]float64{"assay_connections": 1, payload: 0})
	if n := fetch(t, session); n != size {
		t.Fatalf("fetched %d bytes, want %d", n, size)
	}
	after := scrape()
	check(t, after, map[string]float64{
		payload: size,
		`assay_peer_received_payload_bytes_total{counted="yes",peer="peer"}`: size,
		"assay_outstanding_fetches":                   0,
		"assay_rtt_base_seconds_count":                1,
		`assay_cookie_echoes_total{outcome="forged"}`: 0,
		"assay_peers_omitted":                         0,
	})
	for _, name := range []string{
		`assay_frames_total{direction="in"}`, `assay_frames_total{direction="out"}`, `assay_io_calls_total{call="read"}`,
		"assay_cookies_issued_total", `assay_top_rtt_base_seconds{slot="1"}`,
	} {
		if after[name] <= 0 {
			t.Errorf("%s = %v after a fetch", name, after[name])
		}
	}
	if got := after[`assay_wire_bytes_total{direction="in"}`]; got < size {
		t.Errorf("%v bytes on the wire for %d of payload", got, size)
	}
	if bursts(after) < 1 {
		t.Errorf("no burst closed with its fetch: %v", after)
	}
	eventually(t, "an echo", func() bool { return scrape()[`assay_cookie_echoes_total{outcome="sample"}`] > 0 })
	session.Close()
	src.set()
	check(t, gather(t, c).series(), map[string]float64{"assay_connections": 0, payload: size})
}

// bursts is how many have closed, for whatever reason: on a stalled machine it
// may be the horizon.
func bursts(series map[string]float64) (n float64) {
	for r := range burst.Reasons {
		n += series[fmt.Sprintf("assay_bursts_total{reason=%q}", r)]
	}
	return n
}

// eventually waits for what the peer does in its own time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// TestRetire: what came after the last scrape, and connections that no scrape
// saw, are in the totals once retired.
func TestRetire(t *testing.T) {
	const size = 100_000
	src := new(crowd)
	c := NewCollector(src, WithPerPeer(2))
	seen, unseen := served(t, size), served(t, size)
	fetch(t, seen)
	src.set(Of("seen", seen.Meter()))
	check(t, gather(t, c).series(), map[string]float64{payload: size})
	fetch(t, seen)
	fetch(t, unseen)
	seen.Close()
	unseen.Close()
	src.set()
	c.Retire(seen.Meter())
	c.Retire(unseen.Meter())
	c.Retire(nil)
	if n := len(c.books.entries); n != 0 { // nor until the next scrape, which may never come
		t.Errorf("%d entries of retired connections", n)
	}
	for range 2 { // and it stays
		check(t, gather(t, c).series(), map[string]float64{payload: 3 * size, "assay_connections": 0})
	}
}

// TestRetireCountsForTheName: a name that stays through another connection
// keeps what the retired one had.
func TestRetireCountsForTheName(t *testing.T) {
	const size = 100_000
	src := new(crowd)
	c := NewCollector(src, WithPerPeer(1))
	old, young := served(t, size), served(t, size)
	src.set(Of("a", old.Meter()), Of("a", young.Meter()))
	gather(t, c)
	fetch(t, old)
	old.Close()
	src.set(Of("a", young.Meter()))
	c.Retire(old.Meter())
	check(t, gather(t, c).series(), map[string]float64{
		payload: size,
		`assay_peer_received_payload_bytes_total{counted="yes",peer="a"}`: size,
	})
}
