package main

import (
	"fmt"
	"strings"
)

// block is a fenced block of the text that says what it is.
type block struct {
	line  int    // of its fence, for messages
	kind  string // go, diff or console
	file  string // "" for console
	lines []string
}

// blocks returns those of a text, in its order.
func blocks(text string) ([]block, error) {
	var list []block
	var open *block
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case open == nil && isFence:
			open = newBlock(i+1, fence)
		case isFence && fence == "":
			if open.kind != "" {
				list = append(list, *open)
			}
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block has no end", open.line)
	}
	return list, nil
}

// newBlock reads a fence's info string. A block without a kind is for readers
// only.
func newBlock(line int, info string) *block {
	b := &block{line: line}
	words := strings.Fields(info)
	switch {
	case len(words) == 2 && (words[0] == "go" || words[0] == "diff"):
		b.kind, b.file = words[0], words[1]
	case len(words) == 1 && words[0] == "console":
		b.kind = words[0]
	}
	return b
}
