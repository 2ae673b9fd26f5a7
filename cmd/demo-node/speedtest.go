package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedtester"
)

// speedtestCmd is the active measurement.
type speedtestCmd struct {
	Run      speedtestRunCmd      `cmd:"" help:"Test peers now, the largest first."`
	Schedule speedtestScheduleCmd `cmd:"" help:"Test peers over days: announced, a target of our own first, in rounds; goes on after it was ended at any point."`
	Status   speedtestStatusCmd   `cmd:"" help:"Say how far such a campaign is."`
	Demo     speedtestDemoCmd     `cmd:"" help:"Test a network on loopback whose true capacities are known, and hold what is found against them (minutes)."`
	Report   speedtestReportCmd   `cmd:"" help:"Report what tests found: how far the peers' own figures are off."`
}

// speedtestFlags are what all tests have in common.
type speedtestFlags struct {
	Peers       []string      `arg:"" optional:"" help:"Whom to test: HOST:PORT, or NAME=HOST:PORT." placeholder:"PEER"`
	PeersFile   string        `help:"Test those that stand in this file too, one a line; # begins a comment." placeholder:"FILE"`
	Through     bool          `help:"Measure through the peer to an exit of ours too: what it can pass on."`
	OnlyThrough bool          `help:"Measure through the peer alone."`
	Length      time.Duration `name:"seconds" help:"How long to measure each way." default:"20s"`
	Omit        time.Duration `help:"How much of that to leave out at its start; 3s, or a quarter of a shorter test." placeholder:"TIME"`
	OurLimit    rate          `help:"Rate of our own link. Peers allow as much as the smaller of both limits; if neither is known, 256 MiB a run." placeholder:"RATE"`
	MaxRate     rate          `help:"Take no more than this of a peer." placeholder:"RATE"`
	MaxBytes    size          `help:"Move no more than this in a run." placeholder:"SIZE"`
	Streams     int           `help:"Least number of streams." default:"4"`
	MaxStreams  int           `help:"Largest number of streams." default:"256"`
	Window      size          `help:"Receive window of a stream." default:"256KiB"`
}

// leastBytes is the least that a run is worth, as package policy has it.
const leastBytes = 64 << 10

// named is a peer to be tested.
type named struct{ name, addr string }

// targets are the peers to be tested.
func (f *speedtestFlags) targets() ([]named, error) {
	lines := slices.Clone(f.Peers)
	if f.PeersFile != "" {
		file, err := os.Open(f.PeersFile)
		if err != nil {
			return nil, fmt.Errorf("--peers-file: %w", err)
		}
		defer file.Close()
		s := bufio.NewScanner(file)
		for s.Scan() {
			text, _, _ := strings.Cut(s.Text(), "#")
			lines = append(lines, strings.Fields(text)...)
		}
		if err := s.Err(); err != nil {
			return nil, fmt.Errorf("--peers-file: %w", err)
		}
	}
	if len(lines) == 0 {
		return nil, usageError{errors.New("name a peer to test, as HOST:PORT, or give --peers-file")}
	}
	var all []named
	for _, line := range lines {
		n := named{line, line}
		if name, addr, ok := strings.Cut(line, "="); ok {
			n = named{name, addr}
		}
		if _, _, err := net.SplitHostPort(n.addr); err != nil || n.name == "" {
			return nil, usageError{fmt.Errorf("%q is neither HOST:PORT nor NAME=HOST:PORT", line)}
		}
		if slices.ContainsFunc(all, func(o named) bool { return o.name == n.name }) {
			return nil, usageError{fmt.Errorf("%s is named twice", n.name)}
		}
		all = append(all, n)
	}
	return all, nil
}

// tester makes what tests them.
func (f *speedtestFlags) tester(e *env, progress func(string, speedtest.Progress)) (*speedtester.Tester, error) {
	win, err := window(f.Window)
	switch {
	case err != nil:
		return nil, err
	case f.Length < time.Second || f.Length > 5*time.Minute || f.Omit < 0 || f.Omit > f.Length-time.Second:
		return nil, usageError{errors.New("--seconds must be from 1s to 5m, and --omit leave a second of it at least")}
	case f.MaxBytes > 0 && f.MaxBytes < leastBytes:
		return nil, usageError{errors.New("--max-bytes must be 64KiB at least: peers refuse what measures nothing")}
	case f.Streams < 1 || f.MaxStreams < f.Streams || f.MaxStreams > 1024:
		return nil, usageError{errors.New("--streams must be 1 at least, and --max-streams from there to 1024")}
	}
	us := node.New(node.Config{Window: win, Log: e.log})
	cfg := speedtester.Config{
		Node: us, Direct: !f.OnlyThrough, Progress: progress,
		Test: speedtest.Config{
			Length: f.Length, Omit: f.Omit, Streams: f.Streams, MaxStreams: f.MaxStreams, Window: int64(win),
			Limit: bytesPerSecond(f.OurLimit), Rate: bytesPerSecond(f.MaxRate), Bytes: int64(f.MaxBytes), CPU: cpuTime,
		},
	}
	if f.Through || f.OnlyThrough {
		cfg.Exit = us
	}
	return speedtester.New(cfg), nil
}

// bytesPerSecond turns bits into bytes.
func bytesPerSecond(r rate) int64 { return int64(float64(r) / 8) }
