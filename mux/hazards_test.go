package mux

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

// What can go wrong with a shim under a multiplexer, and where it is tested.
//
//	 1  cookie on a ping or pong: endless exchange   TestRule1...
//	 2  answering pings in the shim                  does not apply: yamux answers them; TestHazard2PingsAreYamuxsToAnswer
//	 3  answers out of order, twice, made up         TestRule4..., TestRule2EveryKindOfAnswerIsToldApart
//	 4  the held header                              TestWriteOfABodyReportsNoneOfTheHeaderBefore, TestPartialWrite...,
//	                                                 TestCloseDropsAHeaderThatHasNoBodyYet, TestHazard4EmptyDataIsNotHeld
//	 5  buffers kept after Write                     TestNothingOfTheCallersIsKept
//	 6  asynchronous writes: late error, flush,      TestAsyncErrorIsReportedOneWriteLateAndForEver, TestCloseFlushesTheQueue,
//	    bound, deadlines                             TestAsyncQueueIsBounded, TestCaseReversePathBlackHoled
//	 7  concurrent Write; no lock across a write     TestConcurrentWritesKeepWholeFrames, TestHazard7ReadGoesOnBehindAStuckWrite
//	 8  0 and nil, bytes with an error, timeouts     TestRead... in read_test.go
//	 9  split headers, long bodies, lengths to 2^32  FuzzInbound and its seeds, TestOnlyDataHasABody
//	10  unknown version or type                      TestRule7...
//	11  Close unblocks Read and Write                TestCloseUnblocks...
//	12  conns without addresses                      TestConnsWithoutAddressesAndDeadlines
//	13  synchronous pipes                            TestEveryKindOfConn, TestPairsOfEndsHearWhatTheOtherSaid
//	14  writev only for kernel sockets; WriteTo      TestVectoredWritesAreForKernelSocketsOnly, TestFlushWritesTheSameBytesEveryWay
//	    consumes its pieces
//	15  half close; deadlines                        does not apply: not offered, TestWaysAroundTheMeasuringAreOutOfReach;
//	                                                 TestDeadlinesPassToTheConn
//	16  ways around the parser                       TestWaysAroundTheMeasuringAreOutOfReach, TestCopyToAConnGoesThroughTheShim
//	17  other implementations' limits                TestCookieFrame, TestRule3..., TestOptionsAreBroughtToTheirLimits (SDU
//	                                                 at most 1 MiB), TestHazard17AnswersAreNeverAnswered
//	18  cookies before the peer is known             does not apply: a host that writes a frame has committed to yamux;
//	                                                 TestRule6TheFirstFrameCarriesACookie, TestRule7... for any other
//	19  idle sessions                                TestRule5LoneCookiesOnlyWhileAFetchIsOutstanding, TestHazard19NoTimerWhenIdle
//	20  memory                                       TestReadBufferGrowsOnlyWhenFullAndShrinksAgain, TestIdleConnectionHoldsLittle,
//	                                                 TestHazard20ManyIdleConnections
//	21  echoes wait in the peer's send queue         does not apply: it is what is measured; told apart as loaded, TestRule8...
//	22  close and late bytes: reset, data lost       TestCloseLosesNothingThoughThePeerIsStillTalking, TestCaseCloseRightAfterWrite

func TestHazard2PingsAreYamuxsToAnswer(t *testing.T) {
	c, f := wrapFake(t)
	for _, v := range []uint32{0, 7, 1 << 31, 1<<32 - 1} {
		ping := wireHead(wirePing, wireSYN, 0, v)
		f.feed(ping)
		if got := mustRead(t, c, 12); !bytes.Equal(got, ping) {
			t.Errorf("the host read %x, want %x", got, ping)
		}
		mustWrite(t, c, wirePong(v))
	}
	want := join(wirePong(0), wirePong(7), wirePong(1<<31), wirePong(1<<32-1))
	if !bytes.Equal(f.wire(), want) {
		t.Errorf("wire %x", f.wire())
	}
}

func TestHazard4EmptyDataIsNotHeld(t *testing.T) {
	for _, flags := range []uint16{0, wireSYN, wireFIN, wireRST} {
		c, f := wrapFake(t, WithoutCookies())
		frame := wireHead(wireData, flags, 1, 0)
		mustWrite(t, c, frame)
		if !bytes.Equal(f.wire(), frame) {
			t.Errorf("flags %04b: wire %x", flags, f.wire())
		}
	}
}

func TestHazard7ReadGoesOnBehindAStuckWrite(t *testing.T) {
	for mode, opts := range modes {
		t.Run(mode, func(t *testing.T) {
			c, f := wrapFake(t, opts...)
			gate := make(chan struct{})
			f.setOnWrite(func(p []byte) (int, error) { <-gate; return len(p), nil })
			written := make(chan struct{})
			go func() {
				c.Write(wireFrame(0, 1, pattern(8000, 1)))
				close(written)
			}()
			time.Sleep(5 * time.Millisecond)
			within(t, soon, "reads", func() {
				for i := range uint32(50) {
					f.feed(wireHead(wirePing, wireSYN, 0, i), wireFrame(0, 1, pattern(1000, i)))
					mustRead(t, c, 1024)
					c.Meter().Snapshot()
				}
			})
			close(gate)
			<-written
		})
	}
}

func TestHazard17AnswersAreNeverAnswered(t *testing.T) {
	// Some implementations answer an answer: ours must end there.
	c, f := wrapFake(t, eager())
	mustWrite(t, c, opening)
	v := f.cookies()[0]
	for range 20 {
		f.feed(wirePong(v), wireHead(wirePing, wireACK|wireSYN, 0, v))
	}
	f.feed(wirePong(1))
	mustRead(t, c, 12)
	if n := f.written(); n != 1 {
		t.Errorf("%d writes", n)
	}
}

func TestHazard19NoTimerWhenIdle(t *testing.T) {
	c, f := wrapFake(t)
	mustWrite(t, c, opening)
	f.feed(wireFrame(0, 1, pattern(1000, 1)))
	mustRead(t, c, 1012)
	go c.Read(make([]byte, 9)) // as every yamux does, all the time
	eventually(t, "the burst's timer has run out", func() bool {
		c.meter.mu.Lock()
		defer c.meter.mu.Unlock()
		return !c.meter.pulse.armed
	})
}

func TestHazard20ManyIdleConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand connections")
	}
	const n = 1000
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	conns := make([]*Conn, n)
	before := heap()
	for i := range conns {
		conns[i] = Wrap(&chunked{})
	}
	each := (heap() - before) / n
	for _, c := range conns {
		c.Close()
	}
	t.Logf("%d bytes each", each)
	if each > 8<<10 {
		t.Errorf("an idle connection holds %d bytes, want at most 8 KiB", each)
	}
}

func TestPeerLogsNothingThatItWouldNotLogBare(t *testing.T) {
	for mode, opts := range modes {
		a, b := loopback(t)
		g := oneSided(t, a, b, append(opts, eager())...)
		for range 20 {
			near, far := g.stream(t)
			transfer(t, near, far, 50_000)
			near.Close()
			far.Close()
		}
		if s := g.barLog.String(); strings.Contains(s, "yamux") {
			t.Errorf("%s: %s", mode, s)
		}
	}
}

func TestWindowsLargerThanTheDefault(t *testing.T) {
	a, b := loopback(t)
	wide := func() *Config {
		cfg := config(io.Discard)
		cfg.MaxStreamWindowSize = 16 << 20
		return cfg
	}
	client := must(Client(a, wide()))(t)
	defer client.Close()
	server := must(yamux.Server(b, wide()))(t)
	defer server.Close()
	near, far := streamPair(t, client, server)
	transfer(t, near, far, 12<<20)
	s := client.Meter().Snapshot().Counts
	if s.UncountedIn != 0 || s.PayloadIn != 12<<20 {
		t.Errorf("%d counted, %d not", s.PayloadIn, s.UncountedIn)
	}
}

func TestManyStreamsOpenedAndClosedLeaveNothing(t *testing.T) {
	a, b := loopback(t)
	g := oneSided(t, a, b)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 500 {
			far, err := g.server.AcceptStream()
			if err != nil {
				t.Error(err)
				return
			}
			io.Copy(far, far)
			far.Close()
		}
	})
	for range 500 {
		near := must(g.client.OpenStream())(t)
		mustWrite(t, near, []byte("hello"))
		mustRead(t, near, 5)
		near.Close()
	}
	wg.Wait()
	eventually(t, "the ledger has but the first stream", func() bool {
		m := g.client.Meter()
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.ledger.streams) == 1 && m.ledger.busy == 0
	})
}
