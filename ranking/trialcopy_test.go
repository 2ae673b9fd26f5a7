package ranking

import (
	"testing"
	"time"
)

// A copy for a trial is dropped when it has come. Whoever waits for the datum waits for the others
// still, and is helped if they stall.
func TestATrialDeliversNothing(t *testing.T) {
	for _, role := range []Role{Exploration, Shadow} {
		w := served(t, 4, 1e6)
		plan := w.choose(Query{Datum: "d", Size: 1e6})
		f, err := w.r.Begin(w.now, plan)
		if err != nil {
			t.Fatal(err)
		}
		var other *actor
		for _, a := range w.order {
			if a.id != plan.Primary.Peer {
				other = a
			}
		}
		copied, err := f.Add(w.now, Pick{Peer: other.id, Conn: other.conn, Role: role, bytes: 1e6, expected: 1})
		if err != nil {
			t.Fatal(err)
		}
		copied.Progress(w.now+100*ms, 1e6)
		copied.Received(w.now + 100*ms)
		copied.Done(w.now+100*ms, 1e6)
		a := f.Advice(w.now + 5*time.Second)
		if a.Trouble == Delivered {
			t.Fatalf("%v: the datum counts as delivered by a copy that was dropped", role)
		}
		if a.To.Peer == "" {
			t.Errorf("%v: nobody is asked in the place of one that is silent: %v", role, a)
		}
	}
}
