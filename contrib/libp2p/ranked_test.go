package assay_test

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/ranking"
)

// TestRankedFetch: real hosts, a real ranker, and a plan carried out over the
// connection it names.
func TestRankedFetch(t *testing.T) {
	us := newHost(t, measuredTCP(&assay.Muxer{}))
	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	base := time.Now()
	clock := func() time.Duration { return time.Since(base) }
	peers := assay.Follow(us.Network(), assay.Config{Ranker: r, Clock: clock})
	defer peers.Close()
	for range 2 {
		connect(t, us, newHost(t, libp2p.Transport(tcp.NewTCPTransport)))
	}
	eventually(t, "both have joined", func() bool { return len(peers.Measured()) == 2 })

	const size = 1 << 20
	served := make(map[string]int)
	for range 6 {
		plan, err := r.Choose(clock(), ranking.Query{Size: size})
		if err != nil {
			t.Fatal(err)
		}
		conn, ok := peers.Conn(plan.Primary.Conn)
		if !ok || conn.RemotePeer().String() != plan.Primary.Peer {
			t.Fatalf("the plan names %v, which is %v", plan.Primary, conn)
		}
		f, err := r.Begin(clock(), plan)
		if err != nil {
			t.Fatal(err)
		}
		s, err := us.NewStream(t.Context(), conn.RemotePeer(), protocol)
		if err != nil {
			t.Fatal(err)
		}
		err = ask(s, size)
		f.Progress(clock(), size)
		f.Received(clock())
		if err != nil {
			t.Fatal(err)
		}
		f.Done(clock(), size)
		_ = s.Close()
		served[plan.Primary.Peer]++
	}
	if got := r.Stats(clock()); got.Connected != 2 || got.Completions != 6 || got.Failures != 0 {
		t.Errorf("the ranker counts %+v", got)
	}
	// Completions would not do: on a busy machine some are our own fault, and void.
	for _, s := range r.Rank(clock(), size, 2) {
		if s.Picked != served[s.Peer] || served[s.Peer] > 0 && s.BaseRTT <= 0 {
			t.Errorf("%s served %d: %+v", s.Peer, served[s.Peer], s)
		}
	}

	_ = us.Close()
	_ = peers.Close()
	if got := r.Stats(clock()).Connected; got != 0 {
		t.Errorf("%d are still connected after all was closed", got)
	}
}
