// Package assay measures the peers of a go-libp2p host: round trip, rate and
// liveness of each connection, off the frames that pass anyway. The peers run
// nothing of ours.
//
//	import assay "github.com/assay-mux/assay/contrib/libp2p"
//
//	h, err := libp2p.New(
//		libp2p.Transport(tcp.NewTCPTransport),
//		libp2p.Security(noise.ID, assay.Security(noise.New)),
//		libp2p.Muxer(assay.ID, &assay.Muxer{}),
//	)
//	...
//	if m, ok := assay.MeterOf(stream.Conn()); ok {
//		fmt.Println(m.Snapshot().RTT.Base)
//	}
//
// It is package mux under go-libp2p's own multiplexer, go-yamux: a [Muxer] puts
// a measured connection between the secured connection and the session. On the
// wire it stays yamux, so it is negotiated under yamux's name and any libp2p
// peer will do. [Follow] keeps a ranker told of who is connected.
//
// # What goes past it
//
// Only connections that libp2p upgrades with a multiplexer are measured: TCP,
// WebSocket, and relayed ones. QUIC, WebTransport and WebRTC bring streams of
// their own; no multiplexer is asked for, so nothing here sees them. A host with
// the default transports prefers QUIC. One that wants its peers measured is
// given the TCP transport alone, as above, or asks [Peers.Bypassing] how many
// connections it cannot see.
//
// See the README for how this module is used, and package mux for what its
// figures mean.
package assay
