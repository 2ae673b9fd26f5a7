package speedreport

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// browser finds a Chromium: what CHROMIUM names, or one of the usual names.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell"} {
		if path, err := exec.LookPath(cmp.Or(name, " ")); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: no browser, so that nobody looked at the page; install chromium or set CHROMIUM")
	return ""
}

//go:embed testdata/harness.html
var harness string

// saw is what the harness reports.
type saw struct {
	Text                               string
	Width, ScrollWidth                 float64
	Wide, Scrolling, CutLabels, Loaded []string
	Overlaps, Drawn                    []string
	Labels                             int
	LeastLabel                         float64
	Back                               string
	Colours                            map[string]string
	console                            []string // what the browser complained of
	asked                              []string // what it asked our server for
}

// look shows a page to the browser in a frame of a width, in the light or the dark.
func look(t *testing.T, chromium, page string, width int, dark bool) saw {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/page" {
			fmt.Fprint(w, page)
			return
		}
		fmt.Fprint(w, harness)
	}))
	defer server.Close()
	scheme := 1
	if dark {
		scheme = 0
	}
	stdout, stderr := dump(t, chromium, fmt.Sprintf("%s/?width=%d", server.URL, width), fmt.Sprintf("preferredColorScheme=%d", scheme))
	match := regexp.MustCompile(`<pre id="saw">([^<]*)</pre>`).FindStringSubmatch(stdout)
	if match == nil {
		t.Fatalf("the browser did not get to the end of the page.\n%s\n%s", stdout, stderr)
	}
	text, err := base64.StdEncoding.DecodeString(match[1])
	if err != nil {
		t.Fatal(err)
	}
	var s saw
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for line := range strings.Lines(stderr) {
		if strings.Contains(line, ":CONSOLE") {
			s.console = append(s.console, line)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	s.asked = asked
	return s
}

// dump runs the browser until it has printed a document.
func dump(t *testing.T, chromium, url, settings string) (stdout, stderr string) {
	t.Helper()
	// Not the test's own, for the browser may still write there when it has ended.
	dir, err := os.MkdirTemp("", "chromium") //nolint:usetesting // TempDir fails the test if it can't be emptied
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := []string{
		"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--enable-logging=stderr", "--user-data-dir=" + dir, "--window-size=1400,1000", "--blink-settings=" + settings,
		"--virtual-time-budget=10000", "--dump-dom", url,
	}
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...) // root has no other way
	}
	cmd := exec.CommandContext(ctx, chromium, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", chromium, err, errs.String())
	}
	return out.String(), errs.String()
}

// faults are what is wrong with what was seen.
func (s *saw) faults() []string {
	var all []string
	complain := func(what string, of []string) {
		if len(of) > 0 {
			all = append(all, what+": "+strings.Join(of[:min(len(of), 5)], " | "))
		}
	}
	complain("console", s.console)
	complain("loads something else", s.Loaded)
	complain("asks for", slices.DeleteFunc(slices.Clone(s.asked), func(p string) bool { return p == "/" || p == "/page" }))
	complain("wider than the page", s.Wide)
	complain("wider than its box", s.Scrolling)
	complain("labels cut off", s.CutLabels)
	complain("labels on labels", s.Overlaps)
	if s.ScrollWidth > s.Width {
		all = append(all, fmt.Sprintf("the page is %g wide on a screen of %g", s.ScrollWidth, s.Width))
	}
	for name, least := range map[string]float64{"--text": 7, "--soft": 4.5, "--bad": 4.5, "--plot-0": 7, "--plot-3": 3, "--plot-4": 3, "--plot-5": 3, "--plot-6": 3} {
		if c := contrast(s.Colours[name], s.Back); !(c >= least) {
			all = append(all, fmt.Sprintf("%s is %s on %s, a contrast of %.1f, less than %g", name, s.Colours[name], s.Back, c, least))
		}
	}
	return all
}

// contrast is that of two colours by WCAG 2, 1 to 21.
func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(colour string) float64 {
	var c [3]float64
	if _, err := fmt.Sscanf(colour, "rgb(%g, %g, %g)", &c[0], &c[1], &c[2]); err != nil {
		return math.NaN()
	}
	for i, v := range c {
		if v /= 255; v <= 0.04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
}

func TestBrowser(t *testing.T) {
	chromium := browser(t)
	doc := campaign(30)
	doc.Peers[0].Name = strings.Repeat("f00d", 10) // names are fingerprints
	page := pageOf(t, doc, 0)
	var backs []string
	for _, tc := range []struct {
		name  string
		page  string
		width int
		dark  bool
	}{
		{"phone", page, 390, false}, {"phone, dark", page, 390, true}, {"desk", page, 1280, false}, {"study, phone", pageOf(t, study(3000), 10), 390, false},
	} {
		s := look(t, chromium, tc.page, tc.width, tc.dark)
		for _, fault := range s.faults() {
			t.Errorf("%s: %s", tc.name, fault)
		}
		if s.Width != float64(tc.width) || s.Labels < 15 || s.LeastLabel < 9 {
			t.Errorf("%s: %g wide, %d labels, the least %g high", tc.name, s.Width, s.Labels, s.LeastLabel)
		}
		backs = append(backs, s.Back)
		if tc.page != page {
			continue
		}
		for _, l := range lead(analysed(t, doc)) {
			if !strings.Contains(s.Text, l.Text) {
				t.Errorf("%s: %q is not on the page", tc.name, l.Text)
			}
		}
		for _, want := range []string{"boaster", "says-no", "opted out", "refused: busy", "Before, during and after the test", "observed without tests"} {
			if !strings.Contains(s.Text, want) {
				t.Errorf("%s: %q is not on the page", tc.name, want)
			}
		}
	}
	if backs[0] != backs[2] || backs[0] == backs[1] {
		t.Errorf("backgrounds %q, want the second dark", backs)
	}
}

// What the test looks for, it finds.
func TestBrowserFindsFaults(t *testing.T) {
	chromium := browser(t)
	page := pageOf(t, &report.Document{CapacityFrom: report.FromTest, Peers: campaign(2).Peers}, 0)
	broken := strings.NewReplacer(
		`default-src 'none'; style-src 'unsafe-inline'; img-src data:`, `default-src 'self' 'unsafe-inline'`,
		`--soft: #57606a`, `--soft: #dddddd`,
		`<main>`, `<main><script>console.error("ouch")</script><img src="/elsewhere" alt=""><div style="width:600px;height:9px">wide</div>`,
	).Replace(page)
	s := look(t, chromium, broken, 390, false)
	found := strings.Join(s.faults(), "\n")
	for _, want := range []string{"console: ", "ouch", "loads something else", "asks for: /elsewhere", "wider than the page: DIV: wide", "--soft is ", "on a screen of 390"} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in\n%s", want, found)
		}
	}
	// And what the page's own policy forbids is not asked for, but complained of.
	s = look(t, chromium, strings.Replace(page, "<main>", `<main><img src="/elsewhere" alt="">`, 1), 390, false)
	if found := strings.Join(s.faults(), "\n"); strings.Contains(found, "asks for") || !strings.Contains(found, "Content Security Policy") {
		t.Errorf("found %s", found)
	}
}

func TestContrast(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want float64
	}{{"rgb(0, 0, 0)", "rgb(255, 255, 255)", 21}, {"rgb(9, 9, 9)", "rgb(9, 9, 9)", 1}, {"rgb(118, 118, 118)", "rgb(255, 255, 255)", 4.54}} {
		if got := contrast(tc.a, tc.b); math.Abs(got-tc.want) > 0.01 {
			t.Errorf("%s on %s: %g, want %g", tc.a, tc.b, got, tc.want)
		}
	}
	if c := contrast("", "rgb(0, 0, 0)"); !math.IsNaN(c) {
		t.Errorf("no colour: %g", c)
	}
}
