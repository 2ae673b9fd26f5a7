//go:build unix

package main

import (
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/ranking"
)

// recordBar is the most that one record may hold, in KiB, as package ranking
// publishes.
const recordBar = 32

// growthBar is how much more may be held once as many peers again have come and
// the first have left: the records are bounded in number, and rounding.
const growthBar = 1.10

// meter is a peer's that reads always the same.
type meter struct{ reading burst.Reading }

func (m meter) Reading() burst.Reading { return m.reading }
func (m meter) Begin() func()          { return func() {} }

// records takes completions of many peers through ranker and audit, and of as
// many others after them.
func records(peers, completions int) ([]bar, error) {
	cfg := ranking.DefaultConfig()
	cfg.MaxPeers = peers
	r, err := ranking.New(cfg)
	if err != nil {
		return nil, err
	}
	before := heap()
	now := time.Hour
	if now, err = generation(r, now, 0, peers, completions); err != nil {
		return nil, err
	}
	first := heap() - before
	if now, err = generation(r, now, peers, peers, completions); err != nil {
		return nil, err
	}
	second := heap() - before
	stats := r.Stats(now)
	fmt.Printf("%d completions of %d peers: %.1f MB; of as many others besides: %.1f MB, %d records\n",
		peers*completions, peers, first/1e6, second/1e6, stats.Peers)
	runtime.KeepAlive(r)
	return []bar{
		{"memory of a record, with its part in the audit", first / float64(peers) / 1024, recordBar, "KiB"},
		{"memory after as many peers again", second / first, growthBar, "x"},
		{"records after as many peers again", float64(stats.Peers), float64(peers), ""},
	}, nil
}

// generation lets peers join, complete fetches and leave.
func generation(r *ranking.Ranker, now time.Duration, from, peers, completions int) (time.Duration, error) {
	conns := make([]ranking.Conn, peers)
	for i := range conns {
		n := from + i
		reading := burst.Reading{BaseRTT: time.Duration(10+n%200) * time.Millisecond, Confirmed: true}
		reading.Estimation = burst.Estimation{Rate: burst.SecondsPerByte(1e-7 * float64(1+n%13)), StandardError: 1e-9, Coverage: 1 << 22, Bursts: 20}
		var err error
		conns[i], err = r.Join(now, ranking.Peer{ID: name(n), Addr: netip.AddrFrom4([4]byte{byte(n >> 14), byte(n >> 6), byte(n << 2), 1}), Meter: meter{reading}})
		if err != nil {
			return now, err
		}
	}
	for k := range completions {
		for i := range conns {
			now += 20 * time.Millisecond
			if err := complete(r, now, name(from+i), int64(16<<10)<<(2*(k%5))); err != nil {
				return now, err
			}
		}
		r.Poll(now)
		r.Events()
	}
	for _, c := range conns {
		if err := r.Leave(now, c); err != nil {
			return now, err
		}
	}
	return now, nil
}

// complete makes one fetch of the peer's alone.
func complete(r *ranking.Ranker, now time.Duration, peer string, bytes int64) error {
	datum := "of " + peer
	if err := r.Offer(now, peer, datum, ranking.Size{Bytes: bytes}); err != nil {
		return err
	}
	plan, err := r.Choose(now, ranking.Query{Datum: datum, Size: bytes})
	if err != nil {
		return err
	}
	f, err := r.Begin(now, plan)
	if err != nil {
		return err
	}
	at := now + plan.Predicted/2
	f.FirstByte(at)
	f.Progress(now+plan.Predicted, int(bytes))
	f.Received(now + plan.Predicted)
	f.Done(now+plan.Predicted, bytes)
	return nil
}
