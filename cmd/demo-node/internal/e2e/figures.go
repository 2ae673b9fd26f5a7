package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
)

// snapshotPair are a node's snapshots right before and right after a scrape.
type snapshotPair struct{ before, after status.Snapshot }

// tolerance is the relative error that sums of floating-point numbers may have
// for the order of their terms.
const tolerance = 1e-12

// figures compares all that Prometheus has of the first node with its snapshot.
func (t *trial) figures(ctx context.Context) (string, error) {
	got, err := t.scraped(ctx)
	if err != nil {
		return "", err
	}
	exact, between, err := compare(got, expect(t.last.before), expect(t.last.after))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d series as they were, %d more that time alone moves between what they were right before and right after", exact, between), nil
}

// scraped is what Prometheus has, of a scrape between the two snapshots that it
// leaves in t.last.
func (t *trial) scraped(ctx context.Context) (figures, error) {
	before, err := readSnapshot(ctx, t.cast)
	if err != nil {
		return nil, err
	}
	if err := t.prom.scrapedSince(ctx, time.Now()); err != nil {
		return nil, err
	}
	samples, err := t.prom.query(ctx, fmt.Sprintf("{__name__=~%q, instance=%q}", "assay_.*", firstNode))
	if err != nil {
		return nil, err
	}
	after, err := readSnapshot(ctx, t.cast)
	t.last = snapshotPair{before, after}
	return flatten(samples), err
}

// scrapedSince waits until the first node was scraped after an instant.
func (p *prometheus) scrapedSince(ctx context.Context, at time.Time) error {
	expr := fmt.Sprintf("timestamp(assay_connections{instance=%q})", firstNode)
	for {
		samples, err := p.query(ctx, expr)
		if err != nil {
			return err
		}
		if len(samples) == 1 {
			// The instant of a scrape is in milliseconds, that of its begin.
			if v, err := samples[0].number(); err != nil || v > float64(at.UnixMilli()+1)/1000 {
				return err
			}
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("the cast is not scraped: %w", err)
		}
	}
}

// flatten is an answer by series, without what Prometheus adds. A native
// histogram is its count and its sum.
func flatten(samples []sample) figures {
	got := make(figures)
	for _, s := range samples {
		var pairs []string
		for name, v := range s.Metric {
			switch name {
			case "__name__", "job", "instance":
				continue
			case "le":
				v = bound(v)
			}
			pairs = append(pairs, name, v)
		}
		name := s.Metric["__name__"]
		if h, ok, err := s.histogram(); ok {
			got[series(name+"_count", pairs...)] = parse(h.Count, err)
			got[series(name+"_sum", pairs...)] = parse(h.Sum, err)
			continue
		}
		v, err := s.number()
		got[series(name, pairs...)] = parse(strconv.FormatFloat(v, 'g', -1, 64), err)
	}
	return got
}

// bound is a bucket's bound as a text scrape has it: one in the binary format,
// that of native histograms, says 2.0 for 2.
func bound(le string) string {
	v, err := strconv.ParseFloat(le, 64)
	if err != nil {
		return le
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// parse is a number, NaN if it is none: that equals nothing.
func parse(text string, err error) float64 {
	v, bad := strconv.ParseFloat(text, 64)
	if err != nil || bad != nil {
		return math.NaN()
	}
	return v
}

// compare wants each series between what it should have been before and after,
// and no other series. It counts those that were the same at both, and the rest.
func compare(got, before, after figures) (exact, between int, err error) {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(got)) {
		a, known := before[name]
		b, still := after[name]
		v := got[name]
		switch {
		case !known || !still:
			wrong = append(wrong, fmt.Errorf("%s is %v, of which the snapshot knows nothing", name, v))
		case !within(v, a, b):
			wrong = append(wrong, fmt.Errorf("%s is %v, the snapshot says %v and then %v", name, v, a, b))
		case a == b:
			exact++
		default:
			between++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := got[name]; !ok {
			wrong = append(wrong, fmt.Errorf("%s is missing, the snapshot says %v", name, before[name]))
		}
	}
	return exact, between, first(wrong)
}

// most is how many errors of a kind are told; the rest are counted.
const most = 10

// first joins errors, or the first of many.
func first(all []error) error {
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
	if n := len(all); n > most {
		all = append(all[:most:most], fmt.Errorf("and %d more", n-most))
	}
	return errors.Join(all...)
}

// within says whether v is from a to b, whichever is less, but for rounding.
func within(v, a, b float64) bool {
	slack := tolerance * max(math.Abs(a), math.Abs(b))
	return v >= min(a, b)-slack && v <= max(a, b)+slack
}
