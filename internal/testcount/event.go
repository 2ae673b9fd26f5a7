package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// event is one line of go test -json: see go doc test2json and go help
// buildjson.
type event struct {
	Action      string
	Package     string
	Test        string // empty where the event is the package's
	Output      string
	Elapsed     float64 // seconds
	ImportPath  string  // of build output, in place of Package
	FailedBuild string  // the ImportPath that explains a package's failure
}

// maxLine bounds a line of go test -json, in bytes. go test cuts what a test
// prints into its lines, so that only a line of more than 10 MB comes near.
const maxLine = 16 << 20

// eachEvent calls f with each event in r. A line that is not an event, which
// go test does not print, is an error.
func eachEvent(r io.Reader, f func(event)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("testcount: go test -json printed %q: %w", lines.Text(), err)
		}
		f(e)
	}
	return lines.Err()
}
