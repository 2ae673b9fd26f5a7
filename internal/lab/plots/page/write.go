package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/assay-mux/assay/internal/lab/engine"
	"github.com/assay-mux/assay/internal/lab/plots"
)

// Write draws all that `make lab` wrote: for DIR/lab.json, whose series are in
// DIR/lab, an SVG beside each of these and DIR/lab/index.html, whose path it
// returns. Of what did not come to its end the page says why. What else cannot be drawn is named on the page and in the error, and does not
// keep the rest from being drawn.
func Write(results string) (page string, err error) {
	var docs []*engine.Document
	if err := read(results, &docs); err != nil {
		return "", err
	}
	if len(docs) == 0 {
		return "", fmt.Errorf("%w: %s has no results", plots.ErrNoRun, results)
	}
	dir := strings.TrimSuffix(results, filepath.Ext(results))
	var entries []Entry
	var failed []error
	for _, d := range docs {
		e, err := one(dir, d)
		entries = append(entries, e)
		failed = append(failed, err)
	}
	var b bytes.Buffer
	if err := Page(&b, entries); err != nil {
		return "", fmt.Errorf("page: %w", err)
	}
	page = filepath.Join(dir, "index.html")
	return page, errors.Join(append(failed, os.WriteFile(page, b.Bytes(), 0o644))...)
}

// one draws one result, from its document with series.
func one(dir string, d *engine.Document) (Entry, error) {
	name := fmt.Sprintf("%s-%d", d.Scenario, d.Seed)
	if d.Broken != "" {
		return Entry{Doc: d, NoPlot: "it did not come to its end"}, nil
	}
	e := Entry{Doc: d, Series: name + ".json"}
	svg, err := drawn(filepath.Join(dir, e.Series))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".svg"), svg, 0o644)
	}
	if err != nil {
		e.NoPlot = err.Error()
		return e, fmt.Errorf("%s: %w", name, err)
	}
	e.Plot = name + ".svg"
	return e, nil
}

func drawn(series string) ([]byte, error) {
	var whole engine.Document
	if err := read(series, &whole); err != nil {
		return nil, err
	}
	return plots.Draw(&whole)
}

// read reads a JSON file.
func read(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("page: %s: %w", file, err)
	}
	return nil
}
