package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// showProgress decides whether to draw on stderr.
func (c *cli) showProgress(stderr io.Writer) bool {
	f, isFile := stderr.(*os.File)
	return c.Progress == "always" || c.Progress == "auto" && isFile && term.IsTerminal(int(f.Fd()))
}

// bar draws the progress of so many bytes, and returns what adds to it and what
// takes it off the screen.
func (e *env) bar(name string, bytes int64) (add func(int), end func()) {
	if !e.progress {
		return func(int) {}, func() {}
	}
	b := progressbar.NewOptions64(bytes,
		progressbar.OptionSetWriter(e.stderr),
		progressbar.OptionSetDescription(name),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100_000_000),
		progressbar.OptionClearOnFinish(),
	)
	return func(n int) { _ = b.Add(n) }, func() { _ = b.Finish() }
}
