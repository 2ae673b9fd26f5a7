package main

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/assay-mux/assay/metrics"
)

// The directories the tests look at, seen from this one.
const (
	monitoring = "../../../../monitoring"
	docs       = "../../../../docs"
)

// rule is one of a rules file.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

// readRules reads all rules there are, in the order of the files.
func readRules(t *testing.T) []rule {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(monitoring, "rules", "*.yml"))
	if err != nil || len(paths) < 3 {
		t.Fatalf("rules: %v, %v", paths, err)
	}
	var all []rule
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Groups []struct {
				Name  string
				Rules []rule
			}
		}
		if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, g := range f.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

// nameOf finds what can only be the name of one of our metrics or records.
var nameOf = regexp.MustCompile(`[a-z_]+:assay_[a-z0-9_:]+|\bassay_[a-z0-9_]+`)

// known says whether a name in an expression exists: a metric, one of a
// histogram's series, or what a rule records.
func known(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, d := range metrics.Descriptions() {
		all[d.Name] = true
		if d.Type == metrics.Histogram {
			for _, part := range []string{"_bucket", "_count", "_sum"} {
				all[d.Name+part] = true
			}
		}
	}
	for _, r := range readRules(t) {
		if r.Record != "" {
			if all[r.Record] {
				t.Errorf("%s is recorded twice", r.Record)
			}
			all[r.Record] = true
		}
	}
	return all
}

func unknown(known map[string]bool, expr string) []string {
	return slices.DeleteFunc(nameOf.FindAllString(expr, -1), func(name string) bool { return known[name] })
}

// TestRulesNameWhatExists: no rule asks for a metric that is no more.
func TestRulesNameWhatExists(t *testing.T) {
	all := known(t)
	for _, r := range readRules(t) {
		if got := nameOf.FindAllString(r.Expr, -1); len(got) == 0 {
			t.Errorf("%s%s asks for nothing of ours: %s", r.Record, r.Alert, r.Expr)
		}
		if got := unknown(all, r.Expr); len(got) > 0 {
			t.Errorf("%s%s asks for %q, which nothing shows", r.Record, r.Alert, got)
		}
	}
}

// TestNamesAreFound: the test above can fail.
func TestNamesAreFound(t *testing.T) {
	all := known(t)
	for expr, want := range map[string]int{
		"rate(assay_frames_total[5m])":                               0,
		"assay_rtt_base_seconds_bucket":                              0,
		"assay_frames_bucket":                                        1,
		"rate(assay_frame_total[5m])":                                1,
		"instance:assay_rtt_base_seconds:p50 + job:assay_nothing:x":  1,
		`sum by (assay) (instance:assay_own_fault:ratio_rate5m) > 1`: 0,
	} {
		if got := unknown(all, expr); len(got) != want {
			t.Errorf("%s: unknown are %q, want %d", expr, got, want)
		}
	}
}

// TestAlertsSayWhatToDo: each has a severity, texts, and an entry in the runbook,
// and is tried by promtool's tests both firing and not.
func TestAlertsSayWhatToDo(t *testing.T) {
	runbook, err := os.ReadFile(filepath.Join(docs, "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(filepath.Join(monitoring, "tests", "alerts_test.yml"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range readRules(t) {
		if r.Alert == "" {
			continue
		}
		n++
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
			t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
		}
		for _, text := range []string{"summary", "description"} {
			if len(r.Annotations[text]) < 20 {
				t.Errorf("%s: %s is %q", r.Alert, text, r.Annotations[text])
			}
		}
		link, err := url.Parse(r.Annotations["runbook_url"])
		if err != nil || !strings.HasSuffix(link.Path, "/docs/runbook.md") || link.Fragment != strings.ToLower(r.Alert) {
			t.Errorf("%s: runbook_url is %q", r.Alert, r.Annotations["runbook_url"])
		}
		if !strings.Contains(string(runbook), "\n## "+r.Alert+"\n\n*"+r.Labels["severity"]+".*") {
			t.Errorf("%s has no entry in docs/runbook.md that says it is %s", r.Alert, r.Labels["severity"])
		}
		if fires, rests := tried(t, tests, r.Alert); fires == 0 || rests == 0 {
			t.Errorf("%s is tried %d times firing and %d times not", r.Alert, fires, rests)
		}
	}
	if n < 7 {
		t.Errorf("%d alerts", n)
	}
}

// tried counts how often an alert is tried.
func tried(t *testing.T, text []byte, alert string) (fires, rests int) {
	t.Helper()
	var f struct {
		Tests []struct {
			Cases []struct {
				Alertname string `yaml:"alertname"`
				Want      []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	for _, one := range f.Tests {
		for _, c := range one.Cases {
			switch {
			case c.Alertname != alert:
			case len(c.Want) > 0:
				fires++
			default:
				rests++
			}
		}
	}
	return fires, rests
}

// allDashboards are those of the repository.
func allDashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	all, err := readDashboards(monitoring)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDashboards: each panel has an identity, a place, a unit, a text, and asks the
// source that is chosen above for what exists.
func TestDashboards(t *testing.T) {
	all := known(t)
	uids := make(map[string]string)
	for file, d := range allDashboards(t) {
		if d.UID == "" || uids[d.UID] != "" || d.Title == "" {
			t.Errorf("%s: uid %q, title %q, uid also of %q", file, d.UID, d.Title, uids[d.UID])
		}
		uids[d.UID] = file
		if len(d.Templating.List) == 0 || d.Templating.List[0].Name != "datasource" || d.Templating.List[0].Type != "datasource" {
			t.Errorf("%s: its first variable is not the data source", file)
		}
		ids := make(map[int]bool)
		for _, p := range d.Panels {
			where := fmt.Sprintf("%s, %q", file, p.Title)
			if p.ID == 0 || ids[p.ID] {
				t.Errorf("%s: id %d is none, or another's", where, p.ID)
			}
			ids[p.ID] = true
			if p.Type != "row" {
				checkPanel(t, where, p, all)
			}
		}
		checkPlaces(t, file, d.Panels)
	}
	if len(uids) != 3 {
		t.Errorf("%d dashboards, want three", len(uids))
	}
}

// units are Grafana's names of those in use.
var units = []string{"short", "none", "s", "bytes", "Bps", "ops", "pps", "percentunit"}

func checkPanel(t *testing.T, where string, p panel, known map[string]bool) {
	t.Helper()
	chosen := source{"prometheus", "${datasource}"}
	if p.Title == "" || p.Description == "" || !slices.Contains(units, p.FieldConfig.Defaults.Unit) || p.Datasource != chosen {
		t.Errorf("%s: description %q, unit %q, source %v", where, p.Description, p.FieldConfig.Defaults.Unit, p.Datasource)
	}
	if len(p.Targets) == 0 {
		t.Errorf("%s asks for nothing", where)
	}
	refs := make(map[string]bool)
	for _, q := range p.Targets {
		if q.RefID == "" || refs[q.RefID] || q.Datasource != chosen {
			t.Errorf("%s: query %q of source %v", where, q.RefID, q.Datasource)
		}
		refs[q.RefID] = true
		if got := unknown(known, q.Expr); len(got) > 0 {
			t.Errorf("%s asks for %q, which nothing shows", where, got)
		}
		if strings.Contains(filled(q.Expr), "$") {
			t.Errorf("%s: a variable is left in %s", where, filled(q.Expr))
		}
	}
}

// checkPlaces wants no panel upon another, and none beyond the edge.
func checkPlaces(t *testing.T, file string, panels []panel) {
	t.Helper()
	for i, a := range panels {
		g := a.GridPos
		if g.W <= 0 || g.H <= 0 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s, %q: place %+v", file, a.Title, g)
		}
		for _, b := range panels[:i] {
			o := b.GridPos
			if g.X < o.X+o.W && o.X < g.X+g.W && g.Y < o.Y+o.H && o.Y < g.Y+g.H {
				t.Errorf("%s: %q is upon %q", file, a.Title, b.Title)
			}
		}
	}
}

// TestPromtoolOnFiles: configuration, rules, their tests, and each query of each
// dashboard, as the expression of a rule, in promtool's eyes.
func TestPromtoolOnFiles(t *testing.T) {
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool on PATH (Debian has it in the package prometheus): rules and queries were not parsed")
	}
	if err := (tools{promtool: path}).files(t.Context(), monitoring); err != nil {
		t.Error(err)
	}
	queries := make(map[string]bool)
	for _, d := range allDashboards(t) {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				queries[filled(q.Expr)] = true
			}
		}
	}
	var text strings.Builder
	text.WriteString("groups:\n- name: queries\n  rules:\n")
	for i, q := range slices.Sorted(maps.Keys(queries)) {
		fmt.Fprintf(&text, "  - {record: q%d, expr: %q}\n", i, q)
	}
	file := filepath.Join(t.TempDir(), "queries.yml")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := output(t.Context(), path, "check", "rules", file); err != nil {
		t.Error(err)
	}
}

// TestNoPeerInFleet: no rule for fleets keeps a node or a peer as a label.
func TestNoPeerInFleet(t *testing.T) {
	for _, r := range readRules(t) {
		if strings.HasPrefix(r.Record, "job") && (strings.Contains(r.Expr, "instance") || strings.Contains(r.Expr, "peer_") || !strings.Contains(r.Expr, "job")) {
			t.Errorf("%s: %s", r.Record, r.Expr)
		}
	}
}
