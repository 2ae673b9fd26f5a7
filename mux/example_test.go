package mux_test

import (
	"fmt"
	"io"
	"net"

	// Was: "github.com/hashicorp/yamux". Nothing else changes.
	yamux "github.com/assay-mux/assay/mux"
)

// serve answers each stream of the other end with what it sends.
func serve(conn net.Conn) {
	session, err := yamux.Server(conn, nil)
	if err != nil {
		return
	}
	defer session.Close()
	for {
		stream, err := session.Accept()
		if err != nil {
			return
		}
		go func() {
			io.Copy(stream, stream)
			stream.Close()
		}()
	}
}

// A program that uses yamux changes its import, and goes on as before.
func Example() {
	near, far := net.Pipe()
	go serve(far)

	session, err := yamux.Client(near, yamux.DefaultConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	stream, err := session.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprint(stream, "hello")
	reply := make([]byte, 5)
	if _, err := io.ReadFull(stream, reply); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s\n", reply)
	// Output: hello
}

// A fetch is declared to the meter, and the meter asked what it has seen.
func ExampleMeter() {
	near, far := net.Pipe()
	go serve(far)
	session, err := yamux.Client(near, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	stream, err := session.OpenStream()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()

	const size = 200_000
	end := session.Meter().Begin()
	go stream.Write(make([]byte, size)) // the request, here as long as the reply
	_, err = io.ReadFull(stream, make([]byte, size))
	end() // as soon as the last byte has been read
	if err != nil {
		fmt.Println(err)
	}

	s := session.Meter().Snapshot()
	fmt.Println("payload:", s.Counts.PayloadIn)
	fmt.Println("round trip known:", s.RTT.Base > 0)
	fmt.Println("fetches outstanding:", s.Fetches)
	// Output:
	// payload: 200000
	// round trip known: true
	// fetches outstanding: 0
}

// A node that makes its own session, or runs another yamux, wraps the
// connection alone.
func ExampleWrap() {
	near, far := net.Pipe()
	go io.Copy(io.Discard, far)
	conn := yamux.Wrap(near, yamux.WithSDU(8<<10))
	defer conn.Close()
	fmt.Println(conn.NetConn() == near, conn.Meter().Snapshot().Counts.FramesOut)
	// Output: true 0
}
