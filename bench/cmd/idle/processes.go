package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// compare starts the far ends and, against them at the same time, the bare and
// the wrapped near ends.
func compare(ctx context.Context, l load) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		m   measurement
		err error
	}
	near := func(role string) <-chan answer {
		c := make(chan answer, 1)
		go func() {
			m, err := near(ctx, role, l)
			c <- answer{m, err}
		}()
		return c
	}
	bare, wrapped := near("bare"), near("wrapped")
	b, w := <-bare, <-wrapped
	if b.err != nil {
		return result{}, b.err
	}
	if w.err != nil {
		return result{}, w.err
	}
	return newResult(l.Conns, b.m, w.m), nil
}

// near runs one measuring process against a process of far ends.
func near(ctx context.Context, role string, l load) (m measurement, err error) {
	addr, stop, err := startFar(ctx)
	if err != nil {
		return m, err
	}
	defer stop()
	out, err := command(ctx, "-role", role, "-addr", addr,
		"-conns", strconv.Itoa(l.Conns), "-bytes", strconv.Itoa(l.Bytes),
		"-together", strconv.Itoa(l.Together), "-silence", l.Silence.String()).Output()
	if err != nil {
		return m, fmt.Errorf("idle: measuring %s: %w", role, err)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("idle: measuring %s: %w", role, err)
	}
	return m, nil
}

// startFar starts a process of far ends, which says where it listens, and ends
// when its standard input does.
func startFar(ctx context.Context) (addr string, stop func(), err error) {
	cmd := command(ctx, "-role", "far")
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, fmt.Errorf("idle: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, fmt.Errorf("idle: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("idle: %w", err)
	}
	stop = func() {
		in.Close()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("idle: the far ends did not start: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Stderr = os.Stderr
	return cmd
}
