package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/campaign"
	"github.com/assay-mux/assay/audit/speedtest/report"
)

type speedtestStatusCmd struct {
	State string `arg:"" help:"The campaign's state file."`
	JSON  bool   `name:"json" help:"Print what was found so far as one JSON document; speedtest report reads it."`
}

// Run says how far a campaign is.
func (c *speedtestStatusCmd) Run(e *env) error {
	b, err := os.ReadFile(c.State)
	if err != nil {
		return fmt.Errorf("no campaign there, give the file of speedtest schedule --state: %w", err)
	}
	s, err := campaign.Load(b)
	if err != nil {
		return fmt.Errorf("%s: %w", c.State, err)
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(s.Document())
	}
	return statusTable(e.stdout, s, float64(time.Now().UnixMilli())/1000)
}

// statusTable prints how far a campaign is with each peer.
func statusTable(w io.Writer, s *campaign.State, now float64) error {
	if s.Control != nil {
		fmt.Fprintf(w, "pre-test of %s: %s\n\n", s.Control.Name, pretestLine(s))
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "PEER\tTOLD\tROUNDS\tADVERTISED\tMEASURED\tLIMITED BY\tOUTCOME")
	doc := s.Document()
	for i, p := range doc.Peers {
		fmt.Fprintln(tab, statusRow(p, s.Visits[i], s.Plan.Rounds))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\n"+nextLine(s, s.Next(now), now))
	return err
}

// pretestLine says what came of the test of our own target.
func pretestLine(s *campaign.State) string {
	c := s.Control
	if c.Outcome == report.Measured {
		return fmt.Sprintf("measured %s, in truth %s, %s", mbit(c.Capacity), mbit(c.KnownCapacity),
			map[bool]string{true: "passed", false: "not passed"}[s.Passed])
	}
	if len(c.Runs) == 0 {
		return "still to come"
	}
	last := c.Runs[len(c.Runs)-1]
	if last.Refusal != nil {
		return "not measured yet, " + last.Refusal.Text
	}
	return "not measured yet, " + last.Error
}

// stepName is the name of whom a step is about.
func stepName(s *campaign.State, step campaign.Step) string {
	if step.Peer == campaign.TheControl {
		return s.Control.Name
	}
	return s.Peers[step.Peer].Name
}

func statusRow(p report.Peer, v campaign.Visit, rounds int) string {
	told, adv, measured, by := "-", "-", "-", "-"
	if v.Told {
		told = clock(v.ToldAt)
	}
	if f, ok := p.Claim(); ok {
		adv = mbit(float64(f.Advertised))
	}
	if p.Outcome == report.Measured {
		measured, by = mbit(p.Capacity), string(p.LimitedBy)
		if p.LowerBound {
			measured = ">= " + measured
		}
	}
	return fmt.Sprintf("%s\t%s\t%d of %d\t%s\t%s\t%s\t%s", p.Name, told, min(v.Round, rounds), rounds, adv, measured, by, p.Outcome)
}

// nextLine says what comes next.
func nextLine(s *campaign.State, step campaign.Step, now float64) string {
	switch step.Kind {
	case campaign.Finished:
		return "The campaign is over."
	case campaign.Stopped:
		return "The campaign has stopped: the pre-test did not find what our own target has."
	case campaign.Pretest:
		return "Next: the pre-test."
	case campaign.Wait:
		wait := time.Duration((step.At - now) * float64(time.Second)).Round(time.Second)
		return fmt.Sprintf("Next: %s, at %s, in %v.", stepName(s, step), clock(step.At), wait)
	default:
		return fmt.Sprintf("Next: %s %s, due now.", step.Kind, s.Peers[step.Peer].Name)
	}
}

// clock is an instant for people.
func clock(unix float64) string {
	return time.Unix(int64(unix), 0).UTC().Format("Jan 2 15:04:05")
}
