package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../../"

// coverage is the table of docs/scenarios.md: what is covered, and by which files or tests.
func coverage(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(root + "docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text2, found := strings.Cut(string(text), "| covers | what |")
	if !found {
		t.Fatal("docs/scenarios.md has no table of what is covered")
	}
	rows := map[string][]string{}
	name := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(text2) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		what := strings.TrimSpace(cells[1])
		for _, m := range name.FindAllStringSubmatch(cells[3], -1) {
			rows[what] = append(rows[what], m[1])
		}
	}
	return rows
}

// files are all scenarios by name.
func files(t *testing.T) map[string]*Scenario {
	t.Helper()
	paths, err := filepath.Glob(root + "scenarios/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	all := map[string]*Scenario{}
	for _, p := range paths {
		s, err := Load(p)
		if err != nil {
			t.Fatal(err)
		}
		all[s.Name] = s
	}
	return all
}

// What the table says of files and tests is so.
func TestWhatTheTableSaysIsThere(t *testing.T) {
	all := files(t)
	for what, names := range coverage(t) {
		for _, name := range names {
			if dir, test, ok := strings.Cut(name, ".Test"); ok {
				if !hasTest(t, dir, "Test"+test) {
					t.Errorf("%s: there is no %s", what, name)
				}
				continue
			}
			if s := all[name]; s == nil || !slices.Contains(s.Covers, what) {
				t.Errorf("%s: scenarios/%s.yaml does not say that it covers it, or is not there", what, name)
			}
		}
	}
}

// hasTest says whether a package, by its folder, has a test.
func hasTest(t *testing.T, dir, test string) bool {
	t.Helper()
	paths, err := filepath.Glob(root + dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(") {
			return true
		}
	}
	return false
}

// All there is to cover is covered, and what files say that they cover is in the table.
func TestAllThatIsToBeCoveredIs(t *testing.T) {
	rows := coverage(t)
	want := []string{
		"seed idle-gap pacing", "seed one stall", "seed busy-fill", "seed second protocol", "seed byte-padding",
		"seed slow-loris", "seed RTT inflation", "seed co-located dribbler", "seed reputation farming",
		"seed surgical withholding", "seed Sybil baseline poisoning", "seed size lies", "seed cold cache",
		"seed loss and RTO", "seed GC pause", "seed steady dribbler", "seed token-bucket link",
	}
	for n := range 12 {
		want = append(want, fmt.Sprint("case ", n+1))
	}
	for n := range 34 {
		want = append(want, fmt.Sprint("exploit ", n+1))
	}
	for _, w := range want {
		if len(rows[w]) == 0 {
			t.Errorf("nothing covers %s", w)
		}
	}
	for name, s := range files(t) {
		for _, c := range s.Covers {
			kind, _, _ := strings.Cut(c, " ")
			if slices.Contains([]string{"case", "seed", "exploit"}, kind) && !slices.Contains(rows[c], name) {
				t.Errorf("scenarios/%s.yaml covers %q, which is not in the table of docs/scenarios.md", name, c)
			}
		}
	}
}
