package mux

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"testing"

	"github.com/hashicorp/yamux"
)

func tcpPair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ch := make(chan net.Conn, 1)
	go func() { c, _ := l.Accept(); ch <- c }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := <-ch
	t.Cleanup(func() { c.Close(); s.Close() })
	return c, s
}

func TestSmoke(t *testing.T) {
	for name, opts := range map[string][]Option{"sync": nil, "async": {WithAsyncWrites()}} {
		t.Run(name, func(t *testing.T) {
			a, b := tcpPair(t)
			cs, err := Client(a, nil, opts...)
			if err != nil {
				t.Fatal(err)
			}
			ss, err := yamux.Server(b, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]byte, 8<<20)
			rand.Read(want)
			go func() {
				st, _ := ss.AcceptStream()
				st.Write(want)
				io.Copy(st, st)
				st.Close()
			}()
			st, err := cs.OpenStream()
			if err != nil {
				t.Fatal(err)
			}
			end := cs.Meter().Begin()
			got := make([]byte, len(want))
			st.Write([]byte("x"))
			if _, err := io.ReadFull(st, got); err != nil {
				t.Fatal(err)
			}
			end()
			if !bytes.Equal(got, want) {
				t.Fatal("bytes differ")
			}
			go st.Write(want)
			got = make([]byte, len(want)+1)
			if _, err := io.ReadFull(st, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got[1:], want) {
				t.Fatal("bytes differ")
			}
			st.Close()
			s := cs.Meter().Snapshot()
			t.Logf("%+v", s)
			cs.Close()
			ss.Close()
			if s.Cookies.Echoed == 0 {
				t.Error("no echo")
			}
		})
	}
}
