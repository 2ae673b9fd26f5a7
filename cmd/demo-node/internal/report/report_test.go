package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-mux/assay/audit"
	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// snapshot is one with a value in every field that is reported.
func snapshot() mux.Snapshot {
	const ms = time.Millisecond
	return mux.Snapshot{
		RTT: mux.RTT{
			Base: 40400 * time.Microsecond, P50: 41 * ms, P95: 44 * ms, LoadedP50: 220 * ms, LoadedP95: 240 * ms,
			Samples: 20, LoadedSamples: 300, Censored: 1,
		},
		Estimate: burst.Estimation{Rate: 1.6e-7, StandardError: 0.4e-7, Coverage: 11e6, Bursts: 7},
		Burst:    burst.State{Tight: 8 * time.Second, Ours: 130 * ms, Peers: 80 * ms, Waiting: 500 * ms},
		Gaps:     mux.Gaps{Credit: 50 * ms, Absent: 60 * ms, Frozen: 70 * ms},
	}
}

func document() *Pair {
	p := &Pair{
		Schema: Schema, Link: Link{MbitPerSecond: 50, RTTSeconds: 0.04, SlowStart: true},
		TLS: true, HTTPAddress: "127.0.0.1:9090",
	}
	offer := wire.Offer{Hash: wire.Hash{0xab, 0xcd}, Size: 12e6}
	p.Add(Run{
		Name: "wide window", StreamWindowBytes: 16 << 20, Seconds: 9.5,
		Peers: []Peer{
			NewPeer("a", "b", snapshot(), []Fetch{
				NewFetch(offer, 0, 100*time.Millisecond, 2100*time.Millisecond),
				NewFetch(offer, 2*time.Second, 45*time.Millisecond, 1980*time.Millisecond),
			}),
			NewPeer("b", "a", mux.Snapshot{}, nil),
		},
	})
	return p
}

// golden compares with a file, or rewrites it.
func golden(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		os.MkdirAll("testdata", 0o755)
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func fetched() *Fetched {
	p := document().Runs[0].Peers[0]
	p.Node, p.Peer = "", "192.0.2.1:7001"
	return &Fetched{
		Schema: FetchSchema, Kept: 1, Peer: p,
		Failed: []Failure{{Hash: wire.Hash{1}, Bytes: 3, Seconds: 0.5, Error: "hash mismatch"}},
	}
}

// standing is one with a value in every field that is reported.
func standing(peer string) ranking.Standing {
	return ranking.Standing{
		Peer: peer, Group: "192.0.2.0/24", Connected: true, Expected: 850 * time.Millisecond, Claim: 800 * time.Millisecond,
		Measured: 0.97, Calibration: 1.0625, Penalty: 1.25, BaseRTT: 30 * time.Millisecond, Rate: 3.2e-6, Coverage: 256e3,
		Completions: 35, Failures: 2, Picked: 38, Bytes: 9e6,
	}
}

func swarm() *Swarm {
	predicted, why := 0.9, "hash mismatch"
	demoted := standing("192.0.2.9:7001")
	demoted.Demoted, demoted.Verdict = true, audit.Verdict{Kind: audit.ProvenLie, Lie: audit.FalseSize, Detail: "said 1 MB"}
	return &Swarm{
		Schema: SwarmSchema, Kept: 1, Bytes: 256e3, Peers: []Standing{NewStanding(standing("192.0.2.1:7001")), NewStanding(demoted), NewStanding(ranking.Standing{Peer: "192.0.2.3:7001"})},
		Data: []Datum{
			{Hash: wire.Hash{1}, Bytes: 256e3, Seconds: 0.8, PredictedSeconds: &predicted, From: "192.0.2.1:7001", Why: "the best of 3",
				Parts: []Part{{Peer: "192.0.2.1:7001", Role: "primary", Bytes: 256e3, Seconds: 0.8, Troubles: []string{}}}},
			{Hash: wire.Hash{2}, Bytes: 256e3, Seconds: 2.5, From: "192.0.2.1:7001", Why: "the best of 3", Parts: []Part{
				{Peer: "192.0.2.3:7001", Role: "primary", Bytes: 100e3, Seconds: 2.5, Troubles: []string{"stalled"}, Error: &why},
				{Peer: "192.0.2.1:7001", Role: "hedge", Offset: 100e3, Bytes: 156e3, Seconds: 0.5, Troubles: []string{}}}},
			{Hash: wire.Hash{3}, Seconds: 0.1, Why: "the only one", Error: &why, Parts: []Part{}},
		},
	}
}

func cast() *Cast {
	lie := standing("liar")
	lie.Demoted, lie.Verdict = true, audit.Verdict{Kind: audit.ProvenLie, Lie: audit.FalseSize}
	slow := standing("slow")
	slow.Dropped = true
	return &Cast{
		Schema: CastSchema, Seconds: 55, Bytes: 256e3, Peers: []CastPeer{
			{Rank: 1, Standing: NewStanding(standing("fast")), Kind: "honest, fast", Honest: true, TrueSeconds: 0.0712, UserFetches: 100, Cause: "delivery", Reason: "by 35 completed fetches"},
			{Rank: 2, Standing: NewStanding(slow), Kind: "slow-loris", TrueSeconds: 16, Cause: "trickle", Reason: "its rate collapsed"},
			{Rank: 3, Standing: NewStanding(lie), Kind: "understates sizes", TrueSeconds: 0.09, Cause: "proven lie", Reason: "gave a size"},
		},
	}
}

// TestNamesAreStable: whoever reads the documents relies on each name.
func TestNamesAreStable(t *testing.T) {
	golden(t, "pair.json", func(b *bytes.Buffer) error { return document().WriteJSON(b) })
	golden(t, "swarm.json", func(b *bytes.Buffer) error { return swarm().WriteJSON(b) })
	golden(t, "cast.json", func(b *bytes.Buffer) error { return cast().WriteJSON(b) })
	golden(t, "fetch.json", func(b *bytes.Buffer) error { return fetched().WriteJSON(b) })
}

func TestTables(t *testing.T) {
	golden(t, "pair.txt", func(b *bytes.Buffer) error { return document().WriteTable(b) })
	golden(t, "swarm.txt", func(b *bytes.Buffer) error { return swarm().WriteTable(b) })
	golden(t, "swarm-nothing.txt", func(b *bytes.Buffer) error { return new(Swarm).WriteTable(b) })
	golden(t, "cast.txt", func(b *bytes.Buffer) error { return cast().WriteTable(b) })
	golden(t, "fetch.txt", func(b *bytes.Buffer) error { return fetched().WriteTable(b) })
	golden(t, "fetch-nothing.txt", func(b *bytes.Buffer) error { return new(Fetched).WriteTable(b) })
}

// TestOneDocument: exactly one, and it reads back as it was.
func TestOneDocument(t *testing.T) {
	var b bytes.Buffer
	want := document()
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	var got Pair
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(*want, got); d != "" {
		t.Error(d)
	}
	if dec.More() {
		t.Error("there is another document")
	}
}

func TestErrorsAreSigned(t *testing.T) {
	p := document()
	f := p.Runs[0].Peers[0].Fetches
	if f[0].ErrorPercent != nil || *f[1].ErrorPercent != -1 {
		t.Errorf("errors %v and %v, want none and -1 %%", f[0].ErrorPercent, *f[1].ErrorPercent)
	}
	if e := p.Runs[0].Peers[0].RTT.BaseErrorPercent; *e != 1 {
		t.Errorf("base off by %v %%, want 1", *e)
	}
	if e := p.Runs[0].Peers[0].Rate.StandardErrorMbitPerSecond; *e != 12.5 {
		t.Errorf("standard error %v, want a quarter of 50", *e)
	}
	if e := p.Runs[0].Peers[1].Rate.ErrorPercent; e != nil {
		t.Errorf("an unknown rate is off by %v %%", *e)
	}
	if p.Bytes != 24e6 || p.Files != 2 {
		t.Errorf("%d bytes and %d files, want 24 MB and 2", p.Bytes, p.Files)
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64][2]string{
		0: {"0 B", "0 B"}, 999: {"999 B", "999 B"}, 62_500: {"62 kB", "61.04 KiB"},
		256 << 10: {"262 kB", "256 KiB"}, 4e6: {"4.0 MB", "3.815 MiB"}, 16 << 20: {"17 MB", "16 MiB"},
	} {
		if d, b := Decimal(n), Binary(n); d != want[0] || b != want[1] {
			t.Errorf("%d: %s and %s, want %s and %s", n, d, b, want[0], want[1])
		}
	}
}

// full is a writer that takes so many bytes and no more.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

var errFull = errors.New("full")

func TestFullDiskIsReported(t *testing.T) {
	for room := range 20 {
		r1, r2, r3 := full(room*10), full(room*10), full(room)
		if err := document().WriteTable(&r1); !errors.Is(err, errFull) {
			t.Errorf("table, room for %d: %v", room*10, err)
		}
		if err := document().WriteJSON(&r2); !errors.Is(err, errFull) {
			t.Errorf("document: %v", err)
		}
		if err := fetched().WriteTable(&r3); !errors.Is(err, errFull) {
			t.Errorf("fetched: %v", err)
		}
		r4, r5 := full(room), full(room)
		if err := errors.Join(swarm().WriteTable(&r4), cast().WriteTable(&r5)); !errors.Is(err, errFull) {
			t.Errorf("swarm and cast: %v", err)
		}
	}
}
