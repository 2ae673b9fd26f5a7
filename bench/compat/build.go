package compat

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Upstream is the module whose tests are run, Module the one that pins it.
const (
	Upstream = "github.com/hashicorp/yamux"
	Module   = "github.com/assay-mux/assay/bench"
)

// ErrWrongDirectory says that the working directory is not in Module: change to
// bench first.
var ErrWrongDirectory = errors.New("compat: run this in the directory bench, whose go.mod pins what is compared")

// ErrUpstreamChanged says that a place the hook goes into was not found, after
// another version of yamux was pinned: look at newSession in its mux.go, and
// adapt the patterns in this package.
var ErrUpstreamChanged = errors.New("compat: yamux's source is not as the hook expects it; adapt the patches to the pinned version")

// A Suite is a compiled set of tests. Its methods are safe for concurrent use
// until Remove.
type Suite struct {
	Mode  Mode
	Tests []string // names, in the source's order

	dir    string
	binary string
}

// Build copies the pinned yamux to a temporary directory, puts the mode's hook
// in, and compiles its tests, with the race detector if race is set. The
// working directory must be inside the bench module, which pins the version.
func Build(m Mode, race bool) (*Suite, error) {
	dir, err := os.MkdirTemp("", "assay-compat-")
	if err != nil {
		return nil, fmt.Errorf("compat: %w", err)
	}
	s := &Suite{Mode: m, dir: dir, binary: filepath.Join(dir, "yamux.test")}
	if err := s.build(race); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Remove deletes the suite's files.
func (s *Suite) Remove() error { return os.RemoveAll(s.dir) }

func (s *Suite) build(race bool) error {
	if err := s.copySource(); err != nil {
		return err
	}
	args := []string{"test", "-c", "-o", s.binary}
	if race {
		args = append(args, "-race")
	}
	if _, err := s.tool("go", args...); err != nil {
		return err
	}
	out, err := s.tool(s.binary, "-test.list", "^Test")
	if err != nil {
		return err
	}
	s.Tests = strings.Fields(out)
	return nil
}

// copySource makes the directory a module with yamux's source under another
// path, for the shim inside it imports the real one.
func (s *Suite) copySource() error {
	bench, err := output("", "go", "list", "-m", "-f", "{{.Dir}}", Module)
	if err != nil {
		return fmt.Errorf("%w\n%w", ErrWrongDirectory, err)
	}
	upstream, err := output("", "go", "list", "-m", "-f", "{{.Dir}}", Upstream)
	if err != nil {
		return err
	}
	if upstream == "" {
		return fmt.Errorf("compat: %s is not in the module cache; run go mod download", Upstream)
	}
	if err := os.CopyFS(s.dir, os.DirFS(upstream)); err != nil {
		return fmt.Errorf("compat: copying yamux: %w", err)
	}
	if err := patchAll(s.dir); err != nil {
		return err
	}
	return s.ourFiles(bench)
}

func (s *Suite) ourFiles(bench string) error {
	source, err := s.Mode.source()
	if err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	mod, err := os.ReadFile(filepath.Join(bench, "go.mod"))
	if err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(bench, "go.sum"))
	if err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	for name, content := range map[string][]byte{
		"hook_compat.go": []byte(source),
		"go.mod":         module(mod, filepath.Dir(bench)),
		"go.sum":         sum,
	} {
		if err := replaceFile(filepath.Join(s.dir, name), content); err != nil {
			return err
		}
	}
	return nil
}

// module is the bench module's go.mod, pins and all, for the copy.
func module(mod []byte, root string) []byte {
	lines := strings.Split(string(mod), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "module "):
			lines[i] = "module yamux.compat"
		case strings.HasPrefix(line, "replace github.com/assay-mux/assay "):
			lines[i] = "replace github.com/assay-mux/assay => " + root
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// patch is one mechanical change to a file of theirs, and how often it applies.
type patch struct {
	file    string
	pattern *regexp.Regexp
	with    string
	times   int
}

var patches = []patch{
	{"mux.go", regexp.MustCompile(`newSession\(config, conn, `), "newSession(config, wrapHook(conn), ", 2},
	{"session_test.go", regexp.MustCompile(`\b(client|server)\.conn\.\(\*pipeConn\)`), "unwrapHook(${1}.conn).(*pipeConn)", 3},
}

// languageVersion keeps the meaning their go.mod gives their source (it has the
// old loop variables), which ours would change.
const languageVersion = "//go:build go1.21\n\n"

func patchAll(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("compat: %w", err)
		}
		if b, err = patched(filepath.Base(f), b); err != nil {
			return err
		}
		if err := replaceFile(f, append([]byte(languageVersion), b...)); err != nil {
			return err
		}
	}
	return nil
}

func patched(name string, b []byte) ([]byte, error) {
	for _, p := range patches {
		if p.file != name {
			continue
		}
		if found := len(p.pattern.FindAll(b, -1)); found != p.times {
			return nil, fmt.Errorf("%w: %s matches %d times in %s, not %d", ErrUpstreamChanged, p.pattern, found, name, p.times)
		}
		b = p.pattern.ReplaceAll(b, []byte(p.with))
	}
	return b, nil
}

// replaceFile writes anew, for files of the module cache are read-only.
func replaceFile(name string, content []byte) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("compat: %w", err)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		return fmt.Errorf("compat: %w", err)
	}
	return nil
}

func (s *Suite) tool(name string, args ...string) (string, error) {
	return output(s.dir, name, args...)
}

func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("compat: %s %s: %w\n%s", name, strings.Join(args, " "), err, problems.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
