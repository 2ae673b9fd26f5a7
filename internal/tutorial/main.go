package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its edges as arguments. It returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("tutorial", flag.ContinueOnError)
	f.SetOutput(stderr)
	checkOnly := f.Bool("check", false, "compile the program at each step, and don't run it")
	dir := f.String("dir", "build/_tutorial", "the `directory`, within this module, for the files; it is emptied")
	if f.Parse(args) != nil {
		return 2
	}
	if f.NArg() != 1 {
		fmt.Fprintln(stderr, "tutorial: name the text, as docs/tutorial.md")
		return 2
	}
	began := time.Now()
	steps, err := follow(f.Arg(0), *dir, *checkOnly, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "tutorial: %s: %v\n", f.Arg(0), err)
		return 1
	}
	fmt.Fprintf(stdout, "tutorial: %d steps as %s says, in %.0f s\n", steps, f.Arg(0), time.Since(began).Seconds())
	return 0
}

// errNoStep is that of a text that has nothing to do in it.
var errNoStep = errors.New("there is no console block, so nothing was tried")

// follow does what the text says, in dir. It returns how many steps there were.
func follow(text, dir string, checkOnly bool, stdout io.Writer) (steps int, err error) {
	content, err := os.ReadFile(text)
	if err != nil {
		return 0, err
	}
	list, err := blocks(string(content))
	if err != nil {
		return 0, err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return 0, err
	}
	for _, b := range list {
		if b.kind != "console" {
			err = write(dir, b)
		} else {
			steps++
			err = b.step(dir, checkOnly, stdout)
		}
		if err != nil {
			return steps, fmt.Errorf("line %d: %w", b.line, err)
		}
	}
	if steps == 0 {
		return 0, errNoStep
	}
	return steps, nil
}

// write makes or edits a block's file.
func write(dir string, b block) error {
	name := filepath.Join(dir, filepath.Base(b.file))
	text := strings.Join(b.lines, "\n") + "\n"
	if b.kind == "diff" {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if text, err = edit(string(old), b.lines); err != nil {
			return err
		}
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// errCommand is that of a console block that runs something else.
var errCommand = errors.New(`a console block begins with "$ go run ."`)

// step runs the program as it is now, or only compiles it.
func (b block) step(dir string, checkOnly bool, stdout io.Writer) error {
	if len(b.lines) == 0 || b.lines[0] != "$ go run ." {
		return errCommand
	}
	action := []string{"run", "."}
	if checkOnly {
		action = []string{"vet", "."} // compiles, and does not link
	}
	fmt.Fprintf(stdout, "line %d: go %s\n", b.line, strings.Join(action, " "))
	cmd := exec.Command("go", action...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s%s", err, out, stderr.String())
	}
	if checkOnly {
		return nil
	}
	fmt.Fprint(stdout, string(out))
	return compare(b.lines[1:], string(out))
}
