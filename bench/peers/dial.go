package peers

import (
	"errors"
	"fmt"
	"net"
)

// TCP returns the two ends of a TCP connection over loopback.
func TCP() (client, server net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("peers: %w", err)
	}
	type accepted struct {
		conn net.Conn
		err  error
	}
	far := make(chan accepted, 1)
	go func() {
		conn, err := l.Accept()
		far <- accepted{conn, err}
	}()
	client, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		l.Close() // which ends the Accept
		return nil, nil, errors.Join(fmt.Errorf("peers: %w", err), (<-far).err)
	}
	a := <-far
	l.Close()
	if a.err != nil {
		client.Close()
		return nil, nil, fmt.Errorf("peers: %w", a.err)
	}
	return client, a.conn, nil
}
