package assay_test

import (
	"net"
	"slices"
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

// TestMuxerSuite runs go-libp2p's own tests of a multiplexer.
func TestMuxerSuite(t *testing.T) {
	patient(t)
	suite.SubtestAll(t, &assay.Muxer{})
}

// crowds are the suite's tests that take longest. They open streams by the
// thousand, which neither the side nor the options that are wrapped with change.
var crowds = []string{"StreamOpenStress", "1Conn1000Stream"}

// calm runs the suite without them.
func calm(t *testing.T, tr network.Multiplexer) {
	for test, run := range suite.Subtests {
		if !slices.ContainsFunc(crowds, func(name string) bool { return strings.Contains(test, name) }) {
			t.Run(test[strings.LastIndex(test, ".")+1:], func(t *testing.T) { run(t, tr) })
		}
	}
}

// TestMuxerSuiteWithOneEndWrapped: the other is go-libp2p's own.
func TestMuxerSuiteWithOneEndWrapped(t *testing.T) {
	t.Run("server", func(t *testing.T) { calm(t, oneSided{&assay.Muxer{}, true}) })
	t.Run("client", func(t *testing.T) { calm(t, oneSided{&assay.Muxer{}, false}) })
}

// TestMuxerSuiteWithOptions: with those that change what is written.
func TestMuxerSuiteWithOptions(t *testing.T) {
	for name, opts := range map[string][]mux.Option{
		"asynchronous writes": {mux.WithAsyncWrites()},
		"many cookies":        {mux.WithCookieInterval(0), mux.WithCookieLimit(32), mux.WithSDU(1 << 10)},
		"none":                {mux.WithoutCookies(), mux.WithSDU(0), mux.WithoutKernel()},
	} {
		t.Run(name, func(t *testing.T) { calm(t, &assay.Muxer{Options: opts}) })
	}
}
