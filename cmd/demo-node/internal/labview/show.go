package labview

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/assay-mux/assay/ranking"
)

const (
	// drawEvery is how often the table is drawn. More often flickers.
	drawEvery = 250 * time.Millisecond
	// tellEvery is how often progress is told where there is no table.
	tellEvery = 10 * time.Second
)

// Screen is where a view is shown.
type Screen struct {
	W io.Writer
	// Size is how many columns and rows a terminal has. Nil is no terminal: lines then
	// follow each other and nothing is drawn anew.
	Size func() (columns, rows int)
	// Rank asks for the ranking, as Probe.Rank does.
	Rank func(size int64) (now time.Duration, rank []ranking.Standing)
}

// Show shows a view until the function it returns is called, which shows the last
// of it and waits for that.
func (v *View) Show(s Screen) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	d := &drawing{v: v, s: s}
	every := tellEvery
	if s.Size != nil {
		every = drawEvery
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(drawEvery)
		defer t.Stop()
		for last := time.Now(); ; {
			select {
			case <-ctx.Done():
				d.draw(true)
				return
			case <-t.C:
			}
			due := time.Since(last) >= every-drawEvery/2
			if due {
				last = time.Now()
			}
			d.draw(due)
		}
	})
	return func() { cancel(); wg.Wait() }
}

// drawing is a view on a screen.
type drawing struct {
	v    *View
	s    Screen
	rows int                // how many rows the table on the screen has
	rank []ranking.Standing // the last that was not empty
}

// ranked is the ranking, and after the run its last.
func (d *drawing) ranked() (now time.Duration) {
	now, rank := d.s.Rank(d.v.size())
	if len(rank) > 0 {
		d.rank = rank
	}
	return now
}

// size is that of the data that the ranking is for: the largest that a user wants,
// for which rates tell most.
func (v *View) size() int64 {
	largest := int64(1)
	for _, s := range v.s.Workload.Sizes {
		largest = max(largest, int64(s))
	}
	return largest
}

// draw writes what is new, and what is to be drawn anew if that is due.
func (d *drawing) draw(due bool) {
	lines, now := d.v.Lines(), d.ranked()
	if d.s.Size == nil {
		if due {
			lines = append(lines, d.v.Progress(now, d.rank))
		}
		d.write(lines)
		return
	}
	columns, rows := d.s.Size()
	table := d.v.Table(now, d.rank, columns-1, rows-2)
	var b bytes.Buffer
	if d.rows > 0 {
		b.WriteString("\r" + up(d.rows) + "\x1b[J") // to its top, and clear from there on
	}
	for _, line := range append(lines, table...) {
		b.WriteString(line + "\n")
	}
	d.rows = len(table)
	_, _ = d.s.W.Write(b.Bytes()) // a view that cannot be shown is no reason to end the run
}

// up moves the cursor up.
func up(rows int) string { return strings.Repeat("\x1b[A", rows) }

func (d *drawing) write(lines []string) {
	if len(lines) > 0 {
		_, _ = io.WriteString(d.s.W, strings.Join(lines, "\n")+"\n")
	}
}
