package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peers starts the far ends in this process.
func peers(t *testing.T) (addr string) {
	t.Helper()
	in, stop := io.Pipe()
	out, say := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- far(in, say) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return strings.TrimSpace(line)
}

func TestMeasure(t *testing.T) {
	addr := peers(t)
	for _, wrapped := range []bool{false, true} {
		m, err := measure(addr, wrapped, load{Conns: 20, Bytes: 100_000, Together: 5, Silence: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		// With the far ends in this process both are counted; a session has
		// two goroutines and a read buffer of 4 KiB at least.
		if m.Fresh.Live < 4<<10 || m.Fresh.Live > 1<<20 || m.Used.InUse < 4<<10 {
			t.Errorf("wrapped %v: %+v", wrapped, m)
		}
	}
}

func TestFetchNoticesMissingBytes(t *testing.T) {
	s, err := connect(peers(t), true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.fetch(50_000); err != nil {
		t.Error(err)
	}
	// The request is four bytes: more than they can say comes back cut.
	if err := s.fetch(1<<32 + 10); err == nil {
		t.Error("a short reply was taken for a whole one")
	}
}

func TestMeasureReportsWhatFails(t *testing.T) {
	if _, err := measure("127.0.0.1:1", false, load{Conns: 2, Together: 1}); err == nil {
		t.Error("no error although nobody listens")
	}
}

func TestEach(t *testing.T) {
	var running, most, calls atomic.Int32
	fail := errors.New("third")
	err := each(20, 3, func(i int) error {
		defer running.Add(-1)
		most.Store(max(most.Load(), running.Add(1)))
		calls.Add(1)
		if i == 3 {
			return fail
		}
		return nil
	})
	if !errors.Is(err, fail) || calls.Load() != 20 || most.Load() > 3 {
		t.Errorf("error %v, %d calls, %d at a time", err, calls.Load(), most.Load())
	}
}

func TestVerdict(t *testing.T) {
	at := func(fresh, used float64) measurement {
		return measurement{Fresh: cost{InUse: fresh}, Used: cost{InUse: used}}
	}
	tests := []struct {
		name string
		w    measurement
		want bool
	}{
		{"nothing added", at(1000, 2000), true},
		{"just within", at(1000+freshBar, 2000+usedBar), true},
		{"too much when new", at(1001+freshBar, 2000), false},
		{"too much after use", at(1000, 2001+usedBar), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if r := newResult(10, at(1000, 2000), tt.w); r.Passed != tt.want {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestPerConn(t *testing.T) {
	c := weight{inUse: 3000, live: 2000}.perConn(weight{inUse: 1000, live: 1000}, 10)
	if c.InUse != 200 || c.Live != 100 {
		t.Errorf("%+v", c)
	}
	// A heap that shrank is negative, not huge.
	if c := (weight{}).perConn(weight{inUse: 1000}, 10); c.InUse != -100 {
		t.Errorf("%+v", c)
	}
}
