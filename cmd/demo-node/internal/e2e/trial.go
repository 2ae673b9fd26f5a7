package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// trial is one run.
type trial struct {
	dir, node, build string
	seconds          int
	out              io.Writer

	prom       *prometheus
	cast, plan string // where they serve, HOST:PORT
	last       snapshotPair
}

// The instances by which the targets are known. The cast is scraped as two
// nodes, so that a fleet is more than one.
const (
	firstNode, secondNode = "cast-1", "cast-2"
	planNode              = "campaign"
)

// run does all and returns all that failed.
func (t *trial) run(ctx context.Context) error {
	bin, err := findPrometheus(ctx, t.build)
	if err != nil {
		return err
	}
	t.say("%s", bin.version)
	if err := bin.files(ctx, t.dir); err != nil {
		return err
	}
	t.say("promtool: configuration, rules and the rules' tests are right")
	tmp, err := os.MkdirTemp("", "assay-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	end, err := t.start(ctx, bin, tmp)
	defer end()
	if err != nil {
		return err
	}
	if err := t.awaitRest(ctx); err != nil {
		return err
	}
	return t.checks(ctx, bin)
}

// checks are what must hold once the cast is at rest.
func (t *trial) checks(ctx context.Context, bin tools) error {
	failed := 0
	for _, c := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"metrics as promtool wants them", func(ctx context.Context) (string, error) { return bin.served(ctx, t.cast, t.plan) }},
		{"figures equal the node's snapshot", t.figures},
		{"rules evaluate", t.rules},
		{"alerts", t.alerts},
		{"dashboards", t.dashboards},
	} {
		told, err := c.do(ctx)
		if err != nil {
			failed++
			t.say("FAILED %s: %v", c.name, err)
			continue
		}
		t.say("ok: %s: %s", c.name, told)
	}
	if failed > 0 {
		return fmt.Errorf("%d checks failed", failed)
	}
	return nil
}

// start starts all programs. The function it returns ends those that run.
func (t *trial) start(ctx context.Context, bin tools, tmp string) (end func(), err error) {
	var running []*process
	end = func() {
		for _, p := range running {
			p.end()
		}
	}
	begin := func(name, mark string, args ...string) (string, error) {
		p, addr, err := startNode(ctx, t.node, name, mark, args...)
		if p != nil {
			running = append(running, p)
		}
		return addr, err
	}
	if t.cast, err = begin("cast", "metrics=http://", "cast", "--seconds", fmt.Sprint(t.seconds), "--hold", "10m"); err != nil {
		return end, err
	}
	peer, err := begin("serve", "addr=", "serve", tmp, "--listen", "127.0.0.1:0")
	if err != nil {
		return end, err
	}
	if t.plan, err = begin("campaign", "metrics=http://", "speedtest", "schedule", "one="+peer, "--no-pretest", "--notice", "1h",
		"--state", filepath.Join(tmp, "campaign.json"), "--http", "127.0.0.1:0"); err != nil {
		return end, err
	}
	if err := t.configure(tmp); err != nil {
		return end, err
	}
	t.prom, err = bin.serve(ctx, tmp)
	if t.prom != nil {
		running = append(running, t.prom.process)
	}
	return end, err
}

// configure copies the monitoring directory, with our targets and a scrape each
// second instead of each fifteen.
func (t *trial) configure(tmp string) error {
	if err := os.CopyFS(filepath.Join(tmp, "monitoring"), os.DirFS(t.dir)); err != nil {
		return err
	}
	path := filepath.Join(tmp, "monitoring", "prometheus.yml")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fast := strings.ReplaceAll(string(text), "_interval: 15s", "_interval: 1s")
	if strings.Count(fast, "_interval: 1s") != 2 {
		return fmt.Errorf("%s has no two intervals of 15 s to shorten", path)
	}
	var targets strings.Builder
	for _, n := range []struct{ name, addr string }{{firstNode, t.cast}, {secondNode, t.cast}, {planNode, t.plan}} {
		fmt.Fprintf(&targets, "- targets: [%q]\n  labels: {instance: %q}\n", n.addr, n.name)
	}
	return errors.Join(os.WriteFile(path, []byte(fast), 0o644),
		os.WriteFile(filepath.Join(tmp, "monitoring", "targets", "nodes.yml"), []byte(targets.String()), 0o644))
}

// awaitRest waits until the cast has ended.
func (t *trial) awaitRest(ctx context.Context) error {
	for {
		s, err := readSnapshot(ctx, t.cast)
		if err != nil {
			return err
		}
		if s.Resting {
			t.say("the cast is at rest: %d peers, %d demoted", len(s.Peers), s.Ranking.Stats.Demoted)
			return nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return fmt.Errorf("the cast has not come to rest: %w", err)
		}
	}
}

func (t *trial) say(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// wait waits, or returns why it could not.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
