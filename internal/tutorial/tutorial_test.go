package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	// What the tutorial's program imports: a change there must not be answered
	// with a cached result here.
	_ "github.com/assay-mux/assay/mux"
	_ "github.com/assay-mux/assay/ranking"
)

// TestTutorialCompiles: every step of the text compiles. make tutorial runs them.
func TestTutorialCompiles(t *testing.T) {
	root := filepath.Join("..", "..")
	dir := filepath.Join(root, "build", "_tutorial_test")
	t.Cleanup(func() { os.RemoveAll(dir) })
	var out strings.Builder
	steps, err := follow(filepath.Join(root, "docs", "tutorial.md"), dir, true, &out)
	if err != nil || steps < 4 {
		t.Errorf("%d steps, %v\n%s", steps, err, out.String())
	}
}

func TestBlocks(t *testing.T) {
	text := "a\n```go main.go\nx\n\ny\n```\n```go\nfor readers\n```\n```sh file\nno\n```\n```console\n$ go run .\n```\n"
	got, err := blocks(text)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if b := got[0]; b.kind != "go" || b.file != "main.go" || b.line != 2 || !slices.Equal(b.lines, []string{"x", "", "y"}) {
		t.Errorf("the file is %+v", b)
	}
	if b := got[1]; b.kind != "console" || b.file != "" || !slices.Equal(b.lines, []string{"$ go run ."}) {
		t.Errorf("the command is %+v", b)
	}
	if _, err := blocks("```go x\nno end"); err == nil {
		t.Error("a block without an end is taken")
	}
}

func TestEdit(t *testing.T) {
	const text = "one\n\ntwo\nthree\n"
	for _, tt := range []struct {
		name, diff, want string
	}{
		{"replace", " one\n\n-two\n+2\n", "one\n\n2\nthree\n"},
		{"insert", " two\n+and a half\n", "one\n\ntwo\nand a half\nthree\n"},
		{"delete", "-three\n", "one\n\ntwo\n"},
		{"first line", "-one\n+1\n", "1\n\ntwo\nthree\n"},
		{"two edits", "-one\n+1\n@@\n-three\n+3\n", "1\n\ntwo\n3\n"},
		{"not there", "-four\n", ""},
		{"part of a line", "-hree\n", ""},
		{"nowhere", "+five\n", ""},
		{"no sign", "one\n", ""},
	} {
		got, err := edit(text, strings.Split(strings.TrimSuffix(tt.diff, "\n"), "\n"))
		if got != tt.want || (tt.want == "") != errors.Is(err, errEdit) {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	if _, err := edit("a\na\n", []string{"-a"}); !errors.Is(err, errEdit) {
		t.Errorf("an edit that fits twice: %v", err)
	}
}

func TestCompare(t *testing.T) {
	const output = "swift  12.5 ms\nnoise\nslow 7 ms\n"
	for _, tt := range []struct {
		name   string
		wanted string
		ok     bool
	}{
		{"other numbers", "swift 3 ms\nnoise\nslow 900.1 ms", true},
		{"any lines", "swift 3 ms\n...\nslow 1 ms", true},
		{"any lines at the end", "swift 3 ms\n...", true},
		{"no line between", "swift 3 ms\n...\nnoise\n...\nslow 1 ms", true},
		{"another word", "swift 3 s\n...", false},
		{"a line too few", "swift 3 ms\nslow 1 ms", false},
		{"a line too many", "swift 3 ms\nnoise\nslow 1 ms\nmore", false},
		{"more printed", "swift 3 ms\nnoise", false},
		{"wrong order", "...\nslow 1 ms\nnoise", false},
	} {
		if err := compare(strings.Split(tt.wanted, "\n"), output); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestFollow: a text is done as it says, and one that does not work fails.
func TestFollow(t *testing.T) {
	const program = "```go main.go\npackage main\n\nfunc main() {\n\tprintln(1)\n}\n```\n"
	for _, tt := range []struct {
		name, text string
		build      bool
		code       int
	}{
		{"runs", program + "```console\n$ go run .\n...\n```\n", false, 0},
		{"prints something else", program + "```console\n$ go run .\nnothing of the sort\n```\n", false, 1},
		{"is compiled only", program + "```console\n$ go run .\nnothing of the sort\n```\n", true, 0},
		{"does not compile", program + "```diff main.go\n-\tprintln(1)\n+\tprintln(x)\n```\n```console\n$ go run .\n```\n", true, 1},
		{"edits what is not there", "```diff other.go\n-a\n```\n", true, 1},
		{"runs something else", program + "```console\n$ rm x\n```\n", true, 1},
		{"has no step", program, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "_program")
			text := filepath.Join(t.TempDir(), "text.md")
			if err := os.WriteFile(text, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			// Outside a module go wants one.
			t.Setenv("GO111MODULE", "off")
			args := []string{"-dir", dir, text}
			if tt.build {
				args = append([]string{"-check"}, args...)
			}
			var out strings.Builder
			if got := run(args, &out, &out); got != tt.code {
				t.Errorf("exit code %d, want %d:\n%s", got, tt.code, out.String())
			}
		})
	}
	var out strings.Builder
	if run(nil, &out, &out) != 2 || run([]string{"-nonsense"}, &out, &out) != 2 || run([]string{"no such text"}, &out, &out) != 1 {
		t.Errorf("wrong use is not told apart:\n%s", out.String())
	}
}
