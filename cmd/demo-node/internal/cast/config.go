package cast

import (
	"errors"
	"io"
	"log/slog"
	"time"
)

// Config is what a cast is run with.
type Config struct {
	// Seconds is how long it all takes, about. Shorter than 40 s gives the audit
	// too few fetches of the slow peers.
	Length time.Duration
	// Live is told of each change, a line each.
	Live io.Writer
	Log  *slog.Logger
}

// surveyShare is the survey's share of the time. More gives the audit more
// fetches of slow peers, less shows more of the ranker's choices.
const surveyShare = 0.65

// Errors of a run.
var (
	// ErrBars says that it did not end as it must; the text after it says how.
	ErrBars = errors.New("the cast did not end as it must")
	// ErrBusy says that nothing can be told of the peers on this machine now.
	ErrBusy = errors.New("this machine is too busy, its own standing still voids what is measured; try again when it has less to do")
)
