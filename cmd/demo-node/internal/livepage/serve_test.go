package livepage

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// get asks a page for something.
func get(h http.Handler, method, url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	return w
}

func TestServe(t *testing.T) {
	page := New(new(still))
	defer page.Close()
	h := page.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "rest") }))
	for url, kind := range map[string]string{
		"/": "text/html", "/assets/page.css": "text/css", "/assets/page.js": "text/javascript",
		"/assets/vendor/uplot/uPlot.iife.min.js": "text/javascript", "/assets/vendor/uplot/uPlot.min.css": "text/css", "/assets/vendor/uplot/LICENSE": "text/plain",
	} {
		w := get(h, http.MethodGet, url)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %v", url, w.Code, w.Header())
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", url, w.Header())
		}
	}
	for _, url := range []string{"/metrics", "/healthz", "/page.js", "/live", "/live/nothing"} {
		if w := get(h, http.MethodGet, url); w.Body.String() != "rest" {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
	for _, url := range []string{"/assets/nothing.js", "/assets/../page.go"} {
		if w := get(h, http.MethodGet, url); w.Code == http.StatusOK {
			t.Errorf("%s: %d", url, w.Code)
		}
	}
}

// TestAssetsAreWhole: what the page and its scripts name is embedded, and nothing
// names another host.
func TestAssetsAreWhole(t *testing.T) {
	names := regexp.MustCompile(`(?:href|src)="/(assets/[^"]+)"|from "\./([^"]+)"`)
	hosts := regexp.MustCompile(`(?:https?:)?//[a-z0-9-]+\.[a-z]`)
	err := fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "/vendor/") {
			return err
		}
		text, err := fs.ReadFile(embedded, name)
		if err != nil {
			return err
		}
		for _, m := range names.FindAllStringSubmatch(string(text), -1) {
			wanted := m[1]
			if wanted == "" {
				wanted = path.Join(path.Dir(name), m[2])
			}
			if _, err := fs.Stat(embedded, wanted); err != nil {
				t.Errorf("%s names %s: %v", name, wanted, err)
			}
		}
		for _, host := range hosts.FindAllString(string(text), -1) {
			if host != "http://www.w" { // the name of SVG, www.w3.org, which nobody asks for
				t.Errorf("%s names %s", name, host)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVendored: what is embedded of others has its licence, and is the version that
// the lock file names.
func TestVendored(t *testing.T) {
	licence, err := fs.ReadFile(embedded, "assets/vendor/uplot/LICENSE")
	if err != nil || !strings.Contains(string(licence), "MIT License") || !strings.Contains(string(licence), "Leon Sorokin") {
		t.Errorf("the licence of uPlot: %v", err)
	}
	script, err := fs.ReadFile(embedded, "assets/vendor/uplot/uPlot.iife.min.js")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("browser/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, License string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	uplot := lock.Packages["node_modules/uplot"]
	if uplot.License != "MIT" || !strings.HasPrefix(string(script), "/*! https://github.com/leeoniya/uPlot (v"+uplot.Version+") */") {
		t.Errorf("locked %+v, embedded %.60s", uplot, script)
	}
}
