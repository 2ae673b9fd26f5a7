// The example is two libp2p hosts on loopback that fetch from each other over
// TCP and print what each measured of the other. Only the hosts' options, Follow
// and the ranker's calls are Assay's; the rest is what any libp2p program does.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/ranking"
)

const (
	protocol = "/assay/example/1" // eight bytes say how many to send back
	size     = 16 << 20           // of one fetch: large enough to outlast slow start
	fetches  = 4
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	a, err := start("a")
	if err != nil {
		return err
	}
	defer a.close()
	b, err := start("b")
	if err != nil {
		return err
	}
	defer b.close()
	if err := a.host.Connect(ctx, peer.AddrInfo{ID: b.host.ID(), Addrs: b.host.Addrs()}); err != nil {
		return err
	}
	for range fetches {
		for _, n := range []*node{a, b} {
			if err := n.fetch(ctx); err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
		}
	}
	return show(out, a, b)
}

// node is a host that ranks its peers.
type node struct {
	name   string
	host   host.Host
	ranker *ranking.Ranker
	peers  *assay.Peers
	base   time.Time
}

func start(name string) (*node, error) {
	h, err := libp2p.New(
		libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"),
		libp2p.Transport(tcp.NewTCPTransport), // QUIC would not be measured
		libp2p.Security(noise.ID, assay.Security(noise.New)),
		libp2p.Muxer(assay.ID, &assay.Muxer{}),
	)
	if err != nil {
		return nil, err
	}
	h.SetStreamHandler(protocol, serve)
	n := &node{name: name, host: h, base: time.Now()}
	if n.ranker, err = ranking.New(ranking.DefaultConfig()); err != nil {
		return nil, err
	}
	n.peers = assay.Follow(h.Network(), assay.Config{Ranker: n.ranker, Clock: n.now})
	return n, nil
}

func (n *node) close() {
	_ = n.peers.Close()
	_ = n.host.Close()
}

// now is the instant on the ranker's base.
func (n *node) now() time.Duration { return time.Since(n.base) }

func serve(s network.Stream) {
	defer s.Close()
	var request [8]byte
	if _, err := io.ReadFull(s, request[:]); err != nil {
		return
	}
	block := make([]byte, 64<<10)
	for left := binary.BigEndian.Uint64(request[:]); left > 0; {
		k, err := s.Write(block[:min(left, uint64(len(block)))])
		if err != nil {
			return
		}
		left -= uint64(k)
	}
}

// fetch asks whom the ranker chooses, and tells it how that went.
func (n *node) fetch(ctx context.Context) error {
	plan, err := n.ranker.Choose(n.now(), ranking.Query{Size: size})
	if err != nil {
		return err
	}
	// With two hosts there is one connection. With more, see that the stream is on
	// the one that the plan names: n.peers.Conn(plan.Primary.Conn).
	id, err := peer.Decode(plan.Primary.Peer)
	if err != nil {
		return err
	}
	fetch, err := n.ranker.Begin(n.now(), plan)
	if err != nil {
		return err
	}
	stream, err := n.host.NewStream(ctx, id, protocol)
	if err != nil {
		fetch.Fail(n.now(), ranking.Disconnected)
		return err
	}
	defer stream.Close()
	reply := fetch.Reader(stream, n.now)
	defer reply.Close()
	if err := binary.Write(stream, binary.BigEndian, uint64(size)); err != nil {
		return err
	}
	got, err := io.Copy(io.Discard, reply)
	if err != nil {
		return err
	}
	fetch.Done(n.now(), got) // a real program checks the bytes' hash first
	return nil
}

func show(out io.Writer, nodes ...*node) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "host\tpeer\tRTT base\tRTT p95\trate, MB/s\terror\tcoverage, MB\t16 MiB expected in\t")
	for _, n := range nodes {
		for _, m := range n.peers.Measured() {
			if err := n.row(w, m); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, n := range nodes {
		fmt.Fprintf(out, "%s has %d measured connections, and %d that nothing measures\n",
			n.name, len(n.peers.Measured()), len(n.peers.Bypassing()))
	}
	return nil
}

// row is what a node knows of one connection and of the peer at its other end.
func (n *node) row(w io.Writer, m assay.Measured) error {
	s := m.Meter.Snapshot()
	standing, err := n.ranker.Standing(n.now(), m.Conn.RemotePeer().String(), size)
	if err != nil {
		return err
	}
	rate := s.Estimate.Rate
	_, err = fmt.Fprintf(w, "%s\t%s\t%v\t%v\t%.0f\t%.0f %%\t%.1f\t%v\t\n",
		n.name, m.Conn.RemotePeer().ShortString(),
		s.RTT.Base.Round(time.Microsecond), s.RTT.P95.Round(time.Microsecond),
		rate.BytesPerSecond()/1e6, 100*float64(s.Estimate.StandardError/max(rate, 1e-18)),
		float64(s.Estimate.Coverage)/1e6, standing.Expected.Round(time.Millisecond))
	return err
}
