package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is the command line.
type cli struct {
	Serve     serveCmd     `cmd:"" help:"Offer the files of a directory."`
	Fetch     fetchCmd     `cmd:"" help:"Download files from a peer, or from the best of several, and say how they did."`
	Pair      pairCmd      `cmd:"" help:"Run two nodes over a simulated link, and hold what they measure against the truth."`
	Cast      castCmd      `cmd:"" help:"Run a small cast of honest and bad peers, and see the ranking find out which is which."`
	Lab       labCmd       `cmd:"" help:"Act a scenario file out in real time, and see what happens and why."`
	Speedtest speedtestCmd `cmd:"" help:"Measure what peers can do, against what they say."`
	Version   versionCmd   `cmd:"" help:"Say which build this is."`

	LogLevel level  `help:"Least level to log: debug, info, warn or error; by default ${default}." default:"info" placeholder:"LEVEL"`
	Progress string `help:"Show progress: auto (if stderr is a terminal), always or never." enum:"auto,always,never" default:"auto" placeholder:"WHEN"`
}

// env is what a command runs in.
type env struct {
	ctx            context.Context
	stdout, stderr io.Writer
	log            *slog.Logger
	progress       bool
}

// run is the program. It returns the exit code: 0, 1 with one line on stderr
// that says what to do, or 2 for a command line that makes no sense.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cli
	helped := false
	parser, err := kong.New(&c, kong.Name("demo-node"), kong.Writers(stdout, stderr), kong.UsageOnError(),
		kong.Description("A content-addressed store-and-fetch node that measures what its peers really deliver."),
		kong.Exit(func(int) { helped = true }))
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	if len(args) == 0 { // somebody who does not know what there is
		parser.Stdout = stderr
		_, _ = parser.Parse([]string{"--help"})
		return exitUsage
	}
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return exitOK
	case err != nil:
		return complain(stderr, fmt.Errorf("%w; see %s --help", err, commandOf(err)), exitUsage)
	}
	e := &env{ctx: ctx, stdout: stdout, stderr: stderr, progress: c.showProgress(stderr)}
	e.log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.Level(c.LogLevel)}))
	if err := parsed.Run(e); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err() // whatever failed for it
		}
		return complain(stderr, err, code(err))
	}
	return exitOK
}

// commandOf is the command in whose arguments an error is, as it was typed.
func commandOf(err error) string {
	if p, ok := errors.AsType[*kong.ParseError](err); ok && p.Context != nil {
		if n := p.Context.Selected(); n != nil {
			return n.FullPath()
		}
	}
	return "demo-node"
}

// level is a log level on the command line.
type level slog.Level

// UnmarshalText reads debug, info, warn or error.
func (l *level) UnmarshalText(text []byte) error {
	if (*slog.Level)(l).UnmarshalText(text) != nil {
		return fmt.Errorf("must be debug, info, warn or error, not %q", text)
	}
	return nil
}

// usageError is a command line that makes no sense, found after it was parsed.
type usageError struct{ error }

func code(err error) int {
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	if f, ok := errors.AsType[failures](err); ok {
		return min(f.n, mostCode)
	}
	return exitFailed
}

// complain prints one line, whatever the error holds.
func complain(w io.Writer, err error, code int) int {
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "interrupted; nothing incomplete was kept"
	}
	fmt.Fprintln(w, "demo-node:", strings.Join(strings.Fields(text), " "))
	return code
}
