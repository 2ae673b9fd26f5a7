package assay_test

import (
	"net"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	suite "github.com/libp2p/go-libp2p/p2p/muxer/testsuite"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"

	assay "github.com/assay-mux/assay/contrib/libp2p"
	"github.com/assay-mux/assay/mux"
)

// oneSided wraps one end of each connection only.
type oneSided struct {
	ours   *assay.Muxer
	server bool
}

func (o oneSided) NewConn(c net.Conn, isServer bool, scope network.PeerScope) (network.MuxedConn, error) {
	if isServer == o.server {
		return o.ours.NewConn(c, isServer, scope)
	}
	return yamux.DefaultTransport.NewConn(c, isServer, scope)
}

// patient gives the suite's one timed test, which opens 50,000 streams, ten
// times its 10 s: with the race detector on a busy machine go-libp2p's own
// multiplexer needs more than those, too.
func patient(t *testing.T) { t.Setenv("CI", "true") }

// TestMuxerSuite runs go-libp2p's own tests of a multiplexer, with both ends
// wrapped and with either.
func TestMuxerSuite(t *testing.T) {
	patient(t)
	for name, tr := range map[string]network.Multiplexer{
		"both ends":    &assay.Muxer{},
		"server alone": oneSided{&assay.Muxer{}, true},
		"client alone": oneSided{&assay.Muxer{}, false},
	} {
		t.Run(name, func(t *testing.T) { suite.SubtestAll(t, tr) })
	}
}

// TestMuxerSuiteWithOptions does so with those that change what is written.
// How fast streams open is not among it, and takes longest to test.
func TestMuxerSuiteWithOptions(t *testing.T) {
	for name, opts := range map[string][]mux.Option{
		"asynchronous writes": {mux.WithAsyncWrites()},
		"many cookies":        {mux.WithCookieInterval(0), mux.WithCookieLimit(32), mux.WithSDU(1 << 10)},
		"none":                {mux.WithoutCookies(), mux.WithSDU(0), mux.WithoutKernel()},
	} {
		for test, run := range suite.Subtests {
			if !strings.Contains(test, "StreamOpenStress") {
				t.Run(name+"/"+test[strings.LastIndex(test, ".")+1:], func(t *testing.T) {
					run(t, &assay.Muxer{Options: opts})
				})
			}
		}
	}
}
