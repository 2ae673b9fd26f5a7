package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedreport"
)

type speedtestReportCmd struct {
	Files     []string `arg:"" optional:"" help:"Results of speedtest run or schedule, JSON or JSON lines; - is standard input."`
	CSV       string   `name:"csv" help:"Report on a CSV file of figures from before and after somebody's speed test instead." placeholder:"FILE"`
	HTML      string   `name:"html" help:"Also write the report, with its plots, as one HTML page." placeholder:"FILE"`
	JSON      bool     `name:"json" help:"Print one JSON document instead of tables."`
	Top       int      `help:"How many peers to list, those with the largest errors; 0 lists all." default:"25"`
	Resamples int      `help:"How often each interval is drawn." default:"1000"`
	Seed      uint64   `help:"Seed of the intervals." default:"1"`
}

// mostResults bounds a file of results: some hundred thousand peers.
const mostResults = 1 << 30

// Run prints the report of all files together.
func (c *speedtestReportCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	doc, err := c.read()
	if err != nil {
		return err
	}
	a := report.Analyse(doc, report.Options{Resamples: c.Resamples, Seed: c.Seed})
	if c.HTML != "" {
		if err := c.writePage(a); err != nil {
			return err
		}
		e.log.Info("wrote the page", "file", c.HTML)
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	}
	return speedreport.Text(e.stdout, a, c.Top)
}

func (c *speedtestReportCmd) check() error {
	switch {
	case len(c.Files) == 0 && c.CSV == "":
		return usageError{errors.New("name files of results, or --csv FILE")}
	case len(c.Files) > 0 && c.CSV != "":
		return usageError{errors.New("files of results or --csv, not both")}
	case c.Top < 0:
		return usageError{errors.New("--top must not be negative")}
	case c.Resamples < 0 || c.Resamples > 100_000:
		return usageError{errors.New("--resamples must be from 0 to 100000")}
	}
	return nil
}

func (c *speedtestReportCmd) read() (*report.Document, error) {
	if c.CSV != "" {
		return readResults(c.CSV, report.ReadCSV)
	}
	var all *report.Document
	for _, name := range c.Files {
		doc, err := readResults(name, report.Read)
		switch {
		case err != nil:
			return nil, err
		case all == nil:
			all = doc
		default:
			all.Merge(doc)
		}
	}
	return all, nil
}

// readResults reads one file, and says which one it was if it can't.
func readResults(name string, read func(io.Reader) (*report.Document, error)) (*report.Document, error) {
	in := os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	doc, err := read(io.LimitReader(in, mostResults))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return doc, nil
}

// writePage puts the page in its place only when it is whole.
func (c *speedtestReportCmd) writePage(a *report.Analysis) error {
	var b bytes.Buffer
	if err := speedreport.Page(&b, a, c.Top); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(c.HTML), "."+filepath.Base(c.HTML)+".*")
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.HTML)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}
