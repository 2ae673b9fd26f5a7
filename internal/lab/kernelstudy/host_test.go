package kernelstudy

import (
	"net"
	"net/netip"
	"testing"

	"github.com/assay-mux/assay/mux"
	"github.com/assay-mux/assay/ranking"
)

// A session that has died is chosen once, however good it was.
func TestDeadSessionsAreTold(t *testing.T) {
	h, err := NewHost(ranking.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	serving := &serving{sessions: make(map[Streams]bool)}
	defer serving.close()
	join := func(i byte) Streams {
		ours, theirs := net.Pipe()
		s, err := Wrapped(Window)(theirs)
		if err != nil {
			t.Fatal(err)
		}
		client, err := mux.Client(ours, Config(Window))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		if _, err := h.Join(string('a'+rune(i)), netip.AddrFrom4([4]byte{198, 18, i, 1}), client, Window); err != nil {
			t.Fatal(err)
		}
		return s
	}
	serve := func(s Streams) {
		serving.add(s)
		serving.wg.Go(func() {
			for {
				st, err := s.Accept()
				if err != nil {
					return
				}
				serving.wg.Go(func() { answer(st) })
			}
		})
	}
	mortal := join(0)
	serve(mortal)
	for range 10 { // so that it is known as good
		if _, err := h.Fetch(ranking.Query{Size: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	if err := mortal.Close(); err != nil {
		t.Fatal(err)
	}
	serve(join(1))
	failed := 0
	for range 50 {
		if _, err := h.Fetch(ranking.Query{Size: 1000}); err != nil {
			failed++
		}
	}
	if failed > 1 {
		t.Errorf("%d of 50 fetches failed at a session that has died", failed)
	}
}
