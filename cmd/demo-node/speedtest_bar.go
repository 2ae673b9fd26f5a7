package main

import (
	"fmt"

	"github.com/schollz/progressbar/v3"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
)

// rateBar shows how a speed test goes: how long it still takes, and the running
// rate.
type rateBar struct {
	env *env
	bar *progressbar.ProgressBar
	of  string
}

func (e *env) rateBar() *rateBar { return &rateBar{env: e} }

// ways are the ways for people.
var wayNames = map[message.Way]string{
	message.FromTarget: "from it", message.ToTarget: "to it",
	message.ThroughIn: "through it, in", message.ThroughOut: "through it, out",
}

// show draws, if that is wanted.
func (b *rateBar) show(name string, p speedtest.Progress) {
	if !b.env.progress {
		return
	}
	of := name + ", " + wayNames[p.Way]
	if b.of != of {
		b.clear()
		b.of = of
		b.bar = progressbar.NewOptions64(p.Length.Milliseconds(),
			progressbar.OptionSetWriter(b.env.stderr),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionThrottle(100_000_000),
			progressbar.OptionClearOnFinish(),
		)
	}
	note := ""
	if p.Omitted {
		note = " (starting)"
	}
	b.bar.ChangeMax64(p.Length.Milliseconds())
	b.bar.Describe(fmt.Sprintf("%s: %s, %d streams%s", of, mbit(p.Rate), p.Streams, note))
	_ = b.bar.Set64(min(p.Elapsed, p.Length).Milliseconds())
}

// clear takes it off the screen.
func (b *rateBar) clear() {
	if b.bar != nil {
		_ = b.bar.Finish()
		b.bar, b.of = nil, ""
	}
}
