package ranking

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/bubble"
)

// A real yamux over a simulated link, in virtual time: cold, in frames of 16 KiB, within the credit
// of its windows.
func TestPredictionAgainstYamux(t *testing.T) {
	for _, credit := range []uint32{256 << 10, 1 << 20, 16 << 20} {
		grid([]float64{20, 69, 268}, []float64{10, 100}, []int64{64e3, 4e6},
			func(name string, p Path, n int64) {
				p.StreamWindow = int64(credit)
				bubble.Run(t, func(t *testing.T) {
					got := yamuxFetch(t, p, n, credit)
					near(t, fmt.Sprint(name, ", credit ", credit), Predict(n, p).Total, got, 0.06)
				})
			})
	}
}

// yamuxFetch is how long a fetch of n bytes takes.
func yamuxFetch(t *testing.T, p Path, n int64, credit uint32) time.Duration {
	t.Helper()
	cfg := yamux.DefaultConfig()
	cfg.LogOutput = io.Discard
	cfg.MaxStreamWindowSize = credit
	cfg.ConnectionWriteTimeout = time.Hour
	a, b := lab.Pair(lab.Link{
		Rate: lab.BitRate(8 * p.Rate.BytesPerSecond()), OneWay: p.BaseRTT / 2, SlowStart: true,
	})
	client, err1 := yamux.Client(lab.WholeFrames(a), cfg)
	server, err2 := yamux.Server(lab.WholeFrames(b), cfg)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	defer server.Close()
	go answer(server, n)
	st, err := client.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	began := time.Now()
	st.Write([]byte{1})
	if _, err := io.CopyN(io.Discard, st, n); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// answer sends n bytes to the first request.
func answer(s *yamux.Session, n int64) {
	st, err := s.AcceptStream()
	if err != nil {
		return
	}
	defer st.Close()
	if _, err := io.ReadFull(st, make([]byte, 1)); err != nil {
		return
	}
	frame := make([]byte, 16<<10)
	for ; n > 0; n -= int64(len(frame)) {
		if _, err := st.Write(frame[:min(n, int64(len(frame)))]); err != nil {
			return
		}
	}
}
