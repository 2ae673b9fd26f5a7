package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program under way. End it with end.
type process struct {
	cmd  *exec.Cmd
	logs sync.WaitGroup
}

// endLimit is how long a program may take to end by itself before it is killed.
const endLimit = 10 * time.Second

// start starts a program and hands its log, line by line, to read.
func start(cmd *exec.Cmd, read func(line string)) (*process, error) {
	p := &process{cmd: cmd}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = w
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endLimit
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	p.logs.Go(func() {
		defer r.Close()
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			read(lines.Text())
		}
		_, _ = io.Copy(io.Discard, r)
	})
	return p, nil
}

// end ends it and waits until it has.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(endLimit, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait()
	kill.Stop()
	p.logs.Wait()
}

// startLimit is how long a node may take to say where it serves.
const startLimit = 20 * time.Second

// startNode starts a demo node and returns the address that follows the mark in
// its log. The process is nil if it did not start.
func startNode(ctx context.Context, program, name, mark string, args ...string) (*process, string, error) {
	found := make(chan string, 1)
	var last lastLine
	p, err := start(exec.CommandContext(ctx, program, args...), func(line string) {
		last.set(line)
		if _, addr, ok := strings.Cut(line, mark); ok {
			select {
			case found <- strings.TrimSuffix(strings.Fields(addr)[0], "/metrics"):
			default:
			}
		}
	})
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	select {
	case addr := <-found:
		return p, addr, nil
	case <-time.After(startLimit):
	case <-ctx.Done():
	}
	return p, "", fmt.Errorf("%s does not say where it serves; its last line: %s", name, last.get())
}

// lastLine is the last line of a log. Safe for concurrent use.
type lastLine struct {
	mu   sync.Mutex
	text string // guarded by mu
}

func (l *lastLine) set(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = s
}

func (l *lastLine) get() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}
