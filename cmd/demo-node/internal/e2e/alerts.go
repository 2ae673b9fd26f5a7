package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// demoted is the alert that must fire, for a peer is demoted.
const demoted = "AssayPeerDemoted"

// alertLimit is how long it may take once the cast is at rest: its minute, and
// some for a busy machine.
const alertLimit = 100 * time.Second

// alert is one that fires or is about to.
type alert struct {
	State  string            `json:"state"`
	Labels map[string]string `json:"labels"`
}

func (a alert) String() string { return a.Labels["alertname"] + " of " + a.Labels["instance"] }

// alerts waits for the right ones, and wants no others.
func (t *trial) alerts(ctx context.Context) (string, error) {
	if t.last.after.Ranking.Stats.Demoted == 0 {
		return "", errors.New("the cast ended with nobody demoted, so that there is nothing to alert to")
	}
	end := time.Now().Add(alertLimit)
	for {
		var data struct {
			Alerts []alert `json:"alerts"`
		}
		if err := t.prom.api(ctx, "alerts", url.Values{}, &data); err != nil {
			return "", err
		}
		told, missing, err := judge(data.Alerts, t.thin())
		if err != nil || !missing {
			return told, err
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("%s does not fire for each node of the cast; %s", demoted, told)
		}
		if err := wait(ctx, time.Second); err != nil {
			return "", err
		}
	}
}

// thin says whether more than half of the strata are, as the snapshot has it.
func (t *trial) thin() bool {
	n := 0
	strata := t.last.after.Ranking.Strata
	for _, s := range strata {
		if s.Threshold.Thin {
			n++
		}
	}
	return 2*n > len(strata)
}

// judge says what fires, whether one that must is missing, and as an error what
// fires or is about to and must not. About to may be that the baseline is thin,
// where it is, and that the time is our own fault: only this machine knows.
func judge(all []alert, thin bool) (told string, missing bool, err error) {
	var fire, wait []string
	for _, a := range all {
		name := a.Labels["alertname"]
		fair := name == "AssayOwnFaultTimeHigh" || name == "AssayBaselineThin" && thin || name == demoted
		switch {
		case a.State != "firing" && fair:
			wait = append(wait, a.String())
		case a.State != "firing":
			err = errors.Join(err, fmt.Errorf("%s is about to fire, for nothing", a))
		case a.Labels["alertname"] != demoted, a.Labels["instance"] == planNode:
			err = errors.Join(err, fmt.Errorf("%s fires, for nothing", a))
		default:
			fire = append(fire, a.String())
		}
	}
	slices.Sort(fire)
	slices.Sort(wait)
	told = "firing: " + list(fire) + "; pending: " + list(wait)
	return told, !slices.Equal(fire, []string{demoted + " of " + firstNode, demoted + " of " + secondNode}), err
}

func list(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
