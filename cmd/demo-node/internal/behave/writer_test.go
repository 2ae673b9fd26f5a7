package behave

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/assay-mux/assay/internal/lab/bubble"
)

// arrivals notes when bytes were written.
type arrivals struct {
	bytes.Buffer
	began time.Time
	last  time.Duration
	most  int // in one Write
}

func (a *arrivals) Write(p []byte) (int, error) {
	a.last = time.Since(a.began)
	a.most = max(a.most, len(p))
	return a.Buffer.Write(p)
}

func TestWriterKeepsTime(t *testing.T) {
	tests := map[string]struct {
		b    Behaviour
		last time.Duration // when the last byte of 100 kB goes
		most int
	}{
		"honest": {Behaviour{}, 0, 64e3},
		"drip":   {Behaviour{Drip: 10e3}, 9970 * ms, 300},
		"pace":   {Behaviour{Pace: Pace{30e3, time.Second}}, 3 * time.Second, 30e3},
		"delay":  {Behaviour{Delay: time.Second}, time.Second, 64e3},
		"both":   {Behaviour{Delay: time.Second, Pace: Pace{50e3, time.Second}}, 2 * time.Second, 50e3},
	}
	datum := bytes.Repeat([]byte("assay"), 20_000)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				to := &arrivals{began: time.Now()}
				w := tt.b.Writer(to, int64(len(datum)), nil)
				n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{bytes.NewReader(datum)}, make([]byte, 64e3))
				if n != int64(len(datum)) || err != nil || !bytes.Equal(to.Bytes(), datum) {
					t.Fatalf("%d bytes, %v", n, err)
				}
				if (to.last-tt.last).Abs() > 40*ms || to.most > tt.most {
					t.Errorf("the last byte went at %v, want %v; up to %d at once, want %d", to.last, tt.last, to.most, tt.most)
				}
			})
		})
	}
}

func TestWriterVanishes(t *testing.T) {
	to := new(bytes.Buffer)
	n, err := Behaviour{Vanish: 1000}.Writer(to, 5000, nil).Write(make([]byte, 5000))
	if n != 1000 || to.Len() != 1000 || !errors.Is(err, ErrVanished) {
		t.Errorf("%d of %d bytes, %v", n, to.Len(), err)
	}
}

// TestWriterEnds: it does not sleep on when the session has ended.
func TestWriterEnds(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		done := make(chan struct{})
		time.AfterFunc(3*time.Second, func() { close(done) })
		began := time.Now()
		n, err := Behaviour{Pace: Pace{10, time.Hour}}.Writer(io.Discard, 100, done).Write(make([]byte, 100))
		if n != 10 || !errors.Is(err, ErrEnded) || time.Since(began) != 3*time.Second {
			t.Errorf("%d bytes, %v after %v", n, err, time.Since(began))
		}
	})
}

func TestWriterPassesErrors(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if n, err := (Behaviour{}).Writer(w, 5, nil).Write([]byte("abc")); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%d, %v", n, err)
	}
}
