package main

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedreport"
	"github.com/assay-mux/assay/cmd/demo-node/internal/speedtestdemo"
)

type speedtestDemoCmd struct {
	Length time.Duration `name:"seconds" help:"How long to measure each way." default:"5s"`
	JSON   bool          `name:"json" help:"Print one JSON document instead of the report."`
}

// Run plays the demo and prints the report.
func (c *speedtestDemoCmd) Run(e *env) error {
	if c.Length < 4*time.Second || c.Length > 20*time.Second {
		return usageError{errors.New("--seconds must be from 4s to 20s")}
	}
	bar := e.rateBar()
	live := e.stdout
	if c.JSON {
		live = e.stderr
	}
	doc, failed := speedtestdemo.Run(e.ctx, speedtestdemo.Config{
		Length: c.Length, Live: clearing{bar, live}, Progress: bar.show, CPU: cpuTime,
	})
	bar.clear()
	if doc == nil {
		return failed
	}
	if c.JSON {
		return errors.Join(json.NewEncoder(e.stdout).Encode(doc), failed)
	}
	return errors.Join(speedtestReport(e.stdout, doc), failed)
}

// speedtestReport prints the errors, of each peer and of the network.
func speedtestReport(w io.Writer, doc *report.Document) error {
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return speedreport.Text(w, report.Analyse(doc, report.DefaultOptions()), len(doc.Peers))
}

// clearing takes a bar off the screen before a line is printed.
type clearing struct {
	bar *rateBar
	to  io.Writer
}

func (c clearing) Write(p []byte) (int, error) {
	c.bar.clear()
	return c.to.Write(p)
}
