package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/hashicorp/yamux"
)

// far is the process of the unmodified peers. It writes its address to out and
// runs until in ends.
func far(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("idle: %w", err)
	}
	defer l.Close()
	go accept(l)
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return fmt.Errorf("idle: %w", err)
	}
	_, _ = io.Copy(io.Discard, in)
	return nil
}

func accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		config := yamux.DefaultConfig()
		config.LogOutput = io.Discard
		s, err := yamux.Server(conn, config)
		if err != nil {
			conn.Close()
			continue
		}
		go serve(s)
	}
}

// serve answers each stream's request, a length, with so many bytes.
func serve(s *yamux.Session) {
	defer s.Close()
	for {
		stream, err := s.AcceptStream()
		if err != nil {
			return
		}
		var n [4]byte
		if _, err := io.ReadFull(stream, n[:]); err == nil {
			send(stream, int(binary.BigEndian.Uint32(n[:])))
		}
		stream.Close()
	}
}

func send(w io.Writer, n int) {
	b := make([]byte, min(n, 64<<10))
	for n > 0 {
		k, err := w.Write(b[:min(n, len(b))])
		if err != nil {
			return
		}
		n -= k
	}
}
