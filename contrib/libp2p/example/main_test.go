package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestExampleShowsMeasuredPeers(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out strings.Builder
	if err := run(ctx, &out); err != nil {
		t.Fatal(err)
	}
	// A row: host, peer, two round trips, a rate that is not 0.
	row := regexp.MustCompile(`(?m)^ *([ab]) +<peer\.ID \S+> +[1-9]\S*s +[1-9]\S*s +[1-9]\d* `)
	if got := row.FindAllString(out.String(), -1); len(got) != 2 {
		t.Errorf("%d of 2 peers are shown measured:\n%s", len(got), out.String())
	}
	if !strings.Contains(out.String(), "a has 1 measured connections, and 0 that nothing measures") {
		t.Errorf("the connections are not counted:\n%s", out.String())
	}
}
