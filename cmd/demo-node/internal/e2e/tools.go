package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errNoPrometheus says that there is none, and that none can be had.
var errNoPrometheus = errors.New("no prometheus and promtool on PATH, and they can be taken out of Debian's package only as root with apt-get and dpkg-deb")

// tools are Prometheus's programs.
type tools struct {
	server, promtool string
	version          string
}

// findPrometheus looks on PATH, then for what was fetched, and fetches it.
func findPrometheus(ctx context.Context, build string) (tools, error) {
	dir, err := filepath.Abs(filepath.Join(build, "prometheus"))
	if err != nil {
		return tools{}, err
	}
	look := func(name string) string {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		path, _ := exec.LookPath(filepath.Join(dir, "usr", "bin", name))
		return path
	}
	t := tools{server: look("prometheus"), promtool: look("promtool")}
	if t.server == "" || t.promtool == "" {
		if err := fetch(ctx, dir); err != nil {
			return tools{}, fmt.Errorf("%w (%w)", errNoPrometheus, err)
		}
		t = tools{server: look("prometheus"), promtool: look("promtool")}
	}
	out, err := output(ctx, t.server, "--version")
	t.version, _, _ = strings.Cut(out, "\n")
	return t, err
}

// fetch takes the programs out of Debian's package without installing it.
func fetch(ctx context.Context, dir string) error {
	if os.Getuid() != 0 {
		return errors.New("not root")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	const script = `cd "$1" && { apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; }; } &&
		dpkg-deb -x prometheus_*.deb . && rm -f prometheus_*.deb`
	_, err := output(ctx, "sh", "-c", script, "sh", dir)
	return err
}

// files checks configuration and rules, and runs the rules' tests.
func (t tools) files(ctx context.Context, dir string) error {
	tests, err := filepath.Glob(filepath.Join(dir, "tests", "*.yml"))
	if err != nil || len(tests) == 0 {
		return fmt.Errorf("no tests of rules in %s: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	rules, err := filepath.Glob(filepath.Join(dir, "rules", "*.yml"))
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"check", "config", filepath.Join(dir, "prometheus.yml")},
		append([]string{"check", "rules", "--lint=all", "--lint-fatal"}, rules...),
		append([]string{"test", "rules"}, tests...),
	} {
		if _, err := output(ctx, t.promtool, args...); err != nil {
			return err
		}
	}
	return nil
}

// served checks what nodes serve.
func (t tools) served(ctx context.Context, addrs ...string) (string, error) {
	for _, addr := range addrs {
		text, err := get(ctx, "http://"+addr+"/metrics")
		if err != nil {
			return "", err
		}
		cmd := exec.CommandContext(ctx, t.promtool, "check", "metrics")
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			return "", fmt.Errorf("promtool check metrics of %s: %w\n%s", addr, errors.Join(err, errors.New("it is not content")), out)
		}
	}
	return fmt.Sprintf("of %d nodes", len(addrs)), nil
}

// output runs a program and returns what it printed, which the error has too.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
