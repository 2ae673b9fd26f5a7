package status

import (
	"encoding/json"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// TestSnapshot: what is there, what was, and the ranker.
func TestSnapshot(t *testing.T) {
	var peers Peers
	var ranked Ranking
	snaps := NewSnapshots(&peers, &ranked)
	server := httptest.NewServer(snaps)
	defer server.Close()
	read := func() (s Snapshot) {
		t.Helper()
		code, body := get(t, server.URL)
		if err := json.Unmarshal([]byte(body), &s); err != nil || code != 200 {
			t.Fatalf("%d, %v: %s", code, err, body)
		}
		return s
	}
	if s := read(); s.Resting || len(s.Peers)+len(s.Past) > 0 {
		t.Errorf("at the beginning: %+v", s)
	}
	conn, wrote := spoken(t)
	peers.Add("alice", conn.Meter())
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	ranked.Set(r, func() time.Duration { return time.Second }, 1000)
	snaps.Rest()
	s := read()
	if !s.Resting || len(s.Peers) != 1 || s.Peers[0].Name != "alice" || s.Peers[0].Snapshot.Counts.BytesOut != wrote || s.Ranking.Stats.OrdinaryLeft == 0 {
		t.Errorf("with one peer: %+v", s)
	}
	conn.Close()
	peers.Remove(conn.Meter())
	if s := read(); len(s.Peers) != 0 || len(s.Past) != 1 || s.Past[0].Snapshot.Counts.BytesOut != wrote {
		t.Errorf("after it left: %+v", s)
	}
}

// spoken is a connection on which we have written something, and how much.
func spoken(t *testing.T) (*mux.Conn, uint64) {
	t.Helper()
	a, b := net.Pipe()
	conn := mux.Wrap(a)
	done := make(chan struct{})
	go func() { defer close(done); _, _ = io.Copy(io.Discard, b) }()
	t.Cleanup(func() { conn.Close(); b.Close(); <-done })
	if _, err := conn.Write([]byte{0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}); err != nil { // a GoAway
		t.Fatal(err)
	}
	return conn, conn.Meter().Snapshot().Counts.BytesOut
}

// TestRemovedPeersAreCounted: one that came and went between two scrapes is in
// the totals.
func TestRemovedPeersAreCounted(t *testing.T) {
	var peers Peers
	addr := start(t, &peers)
	conn, wrote := spoken(t)
	if wrote != 12 {
		t.Fatalf("%d bytes written, want a frame of 12", wrote)
	}
	peers.Add("brief", conn.Meter())
	conn.Close()
	peers.Remove(conn.Meter())
	if _, body := get(t, "http://"+addr+"/metrics"); !strings.Contains(body, `assay_wire_bytes_total{direction="out"} 12`) {
		t.Errorf("its 12 bytes are not counted: %.2000s", body)
	}
}
