package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dashboard is what we look at of one.
type dashboard struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name  string          `json:"name"`
			Type  string          `json:"type"`
			Query json.RawMessage `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

// panel is one of its panels.
type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	GridPos     struct {
		X, Y, W, H int
	} `json:"gridPos"`
	Datasource  source `json:"datasource"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []target `json:"targets"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// target is one query of a panel.
type target struct {
	RefID        string `json:"refId"`
	Datasource   source `json:"datasource"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
}

// readDashboards reads all of a directory, by file name.
func readDashboards(dir string) (map[string]dashboard, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "dashboards", "*.json"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no dashboards in %s: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	all := make(map[string]dashboard)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var d dashboard
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[filepath.Base(path)] = d
	}
	return all, nil
}

// filled is an expression with all for each variable, as with Grafana's "All".
func filled(expr string) string {
	return strings.NewReplacer("$job", ".*", "$instance", ".*").Replace(expr)
}

// dashboards wants each query to return data, a number at least once.
func (t *trial) dashboards(ctx context.Context) (string, error) {
	all, err := readDashboards(t.dir)
	if err != nil {
		return "", err
	}
	n := 0
	var wrong []error
	for file, d := range all {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				n++
				samples, err := t.prom.query(ctx, filled(q.Expr))
				if err != nil || !slices.ContainsFunc(samples, sample.finite) {
					wrong = append(wrong, fmt.Errorf("%s, %q: %s returns no number in %d series: %w", file, p.Title, q.Expr, len(samples), errors.Join(err, errNoData)))
				}
			}
		}
	}
	return fmt.Sprintf("%d queries of %d dashboards return data", n, len(all)), first(wrong)
}

var errNoData = errors.New("a panel would be empty")

// finite says whether a sample is a number, or a histogram.
func (s sample) finite() bool {
	if s.Histogram[1] != nil {
		return true
	}
	v, err := s.number()
	return err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}
