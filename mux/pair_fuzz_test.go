package mux

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

// chop is a conn that reads in pieces of given sizes; 0 stands for 256.
type chop struct {
	net.Conn
	sizes []byte
	next  int
}

func (c *chop) Read(p []byte) (int, error) {
	if len(c.sizes) == 0 {
		return c.Conn.Read(p)
	}
	size := int(c.sizes[c.next%len(c.sizes)])
	if c.next++; size == 0 {
		size = 256
	}
	return c.Conn.Read(p[:min(size, len(p))])
}

// opener and acceptor are what bare and wrapped sessions have in common.
type anySession interface {
	OpenStream() (*yamux.Stream, error)
	AcceptStream() (*yamux.Stream, error)
	Close() error
}

// wrapEnd starts one end: bare, or wrapped in one of the ways.
func wrapEnd(t testing.TB, conn net.Conn, client bool, variant byte) anySession {
	t.Helper()
	var s anySession
	var err error
	cfg := config(io.Discard)
	_, _, opts := how(variant >> 1)
	switch bare := variant&1 == 0; {
	case bare && client:
		s, err = yamux.Client(conn, cfg)
	case bare:
		s, err = yamux.Server(conn, cfg)
	case client:
		s, err = Client(conn, cfg, opts...)
	default:
		s, err = Server(conn, cfg, opts...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sizesOf are the writes of one direction of a stream, from bytes: mostly
// small, some more than an SDU.
func sizesOf(program []byte) (sizes []int) {
	for _, b := range program[:min(len(program), 12)] {
		switch n := int(b); {
		case n < 200:
			sizes = append(sizes, n)
		default:
			sizes = append(sizes, (n-199)*1000)
		}
	}
	return sizes
}

// say writes what the program says, ends the stream's half, and returns it.
func say(s *yamux.Stream, program []byte, seed uint32) (all []byte, err error) {
	for i, n := range sizesOf(program) {
		b := pattern(n, seed+uint32(i))
		all = append(all, b...)
		if _, err := s.Write(b); err != nil {
			return all, err
		}
	}
	return all, s.Close()
}

// said is what the program says.
func said(program []byte, seed uint32) (all []byte) {
	for i, n := range sizesOf(program) {
		all = append(all, pattern(n, seed+uint32(i))...)
	}
	return all
}

// talk runs one end of a stream and compares what it hears.
func talk(s *yamux.Stream, mine, theirs []byte, seed, theirSeed uint32) error {
	written := make(chan error, 1)
	go func() {
		_, err := say(s, mine, seed)
		written <- err
	}()
	got, err := io.ReadAll(s)
	if err == nil && !bytes.Equal(got, said(theirs, theirSeed)) {
		err = errors.New("the bytes differ from those written")
	}
	return errors.Join(err, <-written)
}

// checkPair runs three streams between two real yamux sessions at once.
func checkPair(t testing.TB, program, chunks []byte, near, far byte) {
	t.Helper()
	a, b := net.Pipe()
	client := wrapEnd(t, &chop{Conn: a, sizes: chunks}, true, near)
	server := wrapEnd(t, &chop{Conn: b, sizes: chunks}, false, far)
	defer func() { client.Close(); server.Close() }()
	const streams = 3
	third := func(i int) []byte { return program[i*len(program)/streams/2 : (i+1)*len(program)/streams/2] }
	var wg sync.WaitGroup
	check := func(err error) {
		if err != nil {
			t.Errorf("program %v, chunks %v, variants %08b and %08b: %v", program, chunks, near, far, err)
		}
	}
	within(t, 60*time.Second, "the talk", func() {
		for i := range streams {
			mine, theirs := third(2*i), third(2*i+1)
			s, err := client.OpenStream()
			if err != nil {
				check(err)
				return
			}
			p, err := server.AcceptStream()
			if err != nil {
				check(err)
				return
			}
			wg.Go(func() { check(talk(s, mine, theirs, uint32(100*i), uint32(5000+100*i))) })
			wg.Go(func() { check(talk(p, theirs, mine, uint32(5000+100*i), uint32(100*i))) })
		}
		wg.Wait()
	})
}

// pairVariants are the kinds of end: bare, and wrapped in some of the ways.
var pairVariants = []byte{0, 1, 1 | 1<<1, 1 | 2<<1, 1 | 4<<1, 1 | 8<<1, 1 | 9<<1}

func TestPairsOfEndsHearWhatTheOtherSaid(t *testing.T) {
	program := []byte{0, 1, 12, 250, 207, 7, 199, 200, 216, 3, 64, 64, 64, 220, 0, 0, 9, 201, 200, 100, 13}
	for i, near := range pairVariants {
		for j, far := range pairVariants {
			chunks := [][]byte{nil, {99, 0, 1}, {12}, {13, 11}}[(i+j)%4]
			checkPair(t, program, chunks, near, far)
		}
	}
}

// FuzzPair lets two ends, each bare or wrapped, talk through real yamux.
func FuzzPair(f *testing.F) {
	for i, v := range pairVariants {
		f.Add([]byte{0, 1, 12, 205, 7, byte(i)}, []byte{byte(13 * i), 12}, v, pairVariants[(i+3)%len(pairVariants)])
	}
	f.Fuzz(func(t *testing.T, program, chunks []byte, near, far byte) {
		if len(program) > 36 || len(chunks) > 8 {
			return // more is only slower
		}
		checkPair(t, program, chunks, near, far)
	})
}
