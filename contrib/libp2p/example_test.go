package assay_test

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/ranking"
)

// A host that measures its peers, and one that knows nothing of it.
func Example() {
	us, err := libp2p.New(
		libp2p.NoListenAddrs,
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(noise.ID, assay.Security(noise.New)),
		libp2p.Muxer(assay.ID, &assay.Muxer{}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer us.Close()
	them, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer them.Close()

	if err := us.Connect(context.Background(), peer.AddrInfo{ID: them.ID(), Addrs: them.Addrs()}); err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range us.Network().ConnsToPeer(them.ID()) {
		m, ok := assay.MeterOf(c)
		fmt.Println("measured:", ok, "round trip known:", m.Snapshot().RTT.Base > 0)
	}
	// Output: measured: true round trip known: true
}

// A ranker is kept told of who is connected.
func ExampleFollow() {
	us, err := libp2p.New(
		libp2p.NoListenAddrs,
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Muxer(assay.ID, &assay.Muxer{}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer us.Close()

	r, err := ranking.New(ranking.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	base := time.Now()
	clock := func() time.Duration { return time.Since(base) }
	peers := assay.Follow(us.Network(), assay.Config{Ranker: r, Clock: clock})
	defer peers.Close()

	_, err = r.Choose(clock(), ranking.Query{Size: 1 << 20})
	fmt.Println(len(peers.Measured()), len(peers.Bypassing()), err)
	// Output: 0 0 ranking: no connected peer can be asked for this, connect to more peers or exclude fewer
}
