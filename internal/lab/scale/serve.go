//go:build unix

package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// serveEnv tells a process that it is the one that serves.
const serveEnv = "ASSAY_SCALE_SERVE"

// window is the receive window of a stream in bytes, yamux's own.
const window = 256 << 10

// askSize is the length of a request, as package kernelstudy's nodes make it.
const askSize = 16

// serve serves on loopback until its standard input ends.
func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s, err := yamux.Server(c, kernelstudy.Config(window))
		if err != nil {
			continue
		}
		go func() {
			for {
				st, err := s.AcceptStream()
				if err != nil {
					return
				}
				go answer(st)
			}
		}()
	}
}

var zeros = make([]byte, 32<<10)

// answer sends as much as a stream asks for, in writes of 32 KiB.
func answer(st *yamux.Stream) {
	defer st.Close()
	var ask [askSize]byte
	if _, err := io.ReadFull(st, ask[:]); err != nil {
		return
	}
	for left := binary.BigEndian.Uint64(ask[:]); left > 0; {
		n := min(left, uint64(len(zeros)))
		if _, err := st.Write(zeros[:n]); err != nil {
			return
		}
		left -= n
	}
}

// startServing starts the process that serves.
func startServing() (addr string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), serveEnv+"=1"), os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		return "", nil, fmt.Errorf("scale: %w, %w", err1, err2)
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { in.Close(); _ = cmd.Wait() }
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(string(buf[:n])), stop, nil
}
