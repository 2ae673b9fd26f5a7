// Command kernelpeers measures how well a wrapped node predicts a peer that runs
// libp2p's go-yamux as it is, over kernel TCP on emulated paths: the table of
// `make kernel-accuracy`, which has hashicorp's yamux too.
package main

import (
	"fmt"
	"io"
	"net"
	"os"

	"github.com/assay-mux/assay/bench/peers"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

func main() {
	kernelpath.Carry()
	kernelpath.Prefer()
	if err := kernelpath.Available(); err != nil {
		fmt.Println("SKIPPED:", err)
		return
	}
	met, err := kernelstudy.Accuracy(os.Args[1:], kernelstudy.Peer{Name: "kernel-libp2p", Start: serve, Factor: 1.5})
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "kernelpeers:", err)
		os.Exit(2)
	case !met:
		os.Exit(1)
	}
}

// serve starts a session of libp2p's.
func serve(c net.Conn) (kernelstudy.Streams, error) {
	s, err := peers.Libp2p(c, peers.Server, io.Discard)
	if err != nil {
		return nil, err
	}
	return streams{s}, nil
}

type streams struct{ peers.Session }

func (s streams) Accept() (io.ReadWriteCloser, error) { return s.Session.Accept() }
