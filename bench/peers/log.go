package peers

import (
	"strings"
	"sync"
)

// A Log keeps what a multiplexer logs. The zero value is ready; all methods are
// safe for concurrent use.
type Log struct {
	mu    sync.Mutex // guards lines
	lines []string
}

// Write takes one line, as package log gives them.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.lines = append(l.lines, strings.TrimSpace(string(p)))
	l.mu.Unlock()
	return len(p), nil
}

// Lines returns what was logged so far.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// Count returns how many lines contain the text.
func (l *Log) Count(text string) int {
	n := 0
	for _, line := range l.Lines() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
