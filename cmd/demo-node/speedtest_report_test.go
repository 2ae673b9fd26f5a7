package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-mux/assay/audit/speedtest/report"
)

// peerLine is a peer that was measured at 1 MB/s and had said so much.
func peerLine(name, advertised string) string {
	return `{"name":"` + name + `","outcome":"measured","capacity_bytes_per_second":1e6,"limited_by":"peer",` +
		`"published":[{"at_unix_seconds":1e9,"phase":"before","advertised_bytes_per_second":` + advertised + `}]}` + "\n"
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSpeedtestReport(t *testing.T) {
	first := write(t, "a.jsonl", peerLine("modest", "250000")+peerLine("true", "1000000"))
	second := write(t, "b.json", `{"format":1,"shortened":true,"capacity_from":"test","peers":[`+peerLine("boaster", "9000000")+`]}`)
	code, out, errs := call(t, "speedtest", "report", first, second)
	if code != exitOK {
		t.Fatalf("code %d: %s", code, errs)
	}
	for _, want := range []string{"3 of 3 peers measured", "shortened", "boaster SAYS TOO MUCH", "says too little", "-241.7 %"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestSpeedtestReportJSON(t *testing.T) {
	file := write(t, "a.jsonl", peerLine("modest", "250000")+peerLine("boaster", "9000000"))
	code, out, errs := call(t, "speedtest", "report", file, "--json", "--resamples", "10")
	if code != exitOK || errs != "" {
		t.Fatalf("code %d: %s", code, errs)
	}
	var a report.Analysis
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	if a.Counts.Overstated != 1 || a.Counts.Understated != 1 || len(a.Rows) != 2 || a.Errors[0].NetworkCapacityError != 1-9.25/2 {
		t.Errorf("%+v", a)
	}
}

func TestSpeedtestReportPage(t *testing.T) {
	csv := write(t, "a.csv", "peer,advertised_before_bytes_per_second,advertised_after_bytes_per_second\na,1000000,2000000\nb,500000,500000\n")
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	for range 2 { // and over an older one
		if code, out, errs := call(t, "speedtest", "report", "--csv", csv, "--html", path); code != exitOK || !strings.Contains(out, "+66.7 %") {
			t.Fatalf("code %d: %s%s", code, out, errs)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(page), "<svg") || !strings.HasSuffix(string(page), "</html>\n") {
		t.Errorf("%v, %d bytes", err, len(page))
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("beside the page there is more: %v", left)
	}
	wantFailure(t, exitFailed, "--html: ", "speedtest", "report", "--csv", csv, "--html", filepath.Join(dir, "missing", "x.html"))
	wantFailure(t, exitFailed, "--html: ", "speedtest", "report", "--csv", csv, "--html", dir)
}

func TestSpeedtestReportRefuses(t *testing.T) {
	good := write(t, "a.jsonl", peerLine("a", "5"))
	wantFailure(t, exitUsage, "name files of results", "speedtest", "report")
	wantFailure(t, exitUsage, "not both", "speedtest", "report", good, "--csv", good)
	wantFailure(t, exitUsage, "--top", "speedtest", "report", good, "--top", "-1")
	wantFailure(t, exitUsage, "--resamples", "speedtest", "report", good, "--resamples", "-1")
	wantFailure(t, exitFailed, "no such file", "speedtest", "report", good+"x")
	wantFailure(t, exitFailed, "no such file", "speedtest", "report", "--csv", good+"x")
	wantFailure(t, exitFailed, "no results in it", "speedtest", "report", write(t, "empty", ""))
	bad := write(t, "bad", `{"name":"a","capcity":1}`)
	wantFailure(t, exitFailed, "bad: report: not the results of a speed test", "speedtest", "report", good, bad)
	wantFailure(t, exitFailed, "has to name the columns", "speedtest", "report", "--csv", write(t, "b.csv", "a,b,c\n1,2,3\n"))
	wantFailure(t, exitFailed, "not the results of a speed test", "speedtest", "report", "--csv", good)
}

// The page of the study itself, where its data is at hand.
func TestSpeedtestReportOfTheStudy(t *testing.T) {
	const data = "../../../shared/data/pam2021-speedtest.csv"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("SKIPPED: the study's data is not at hand, nothing was compared with it: %v", err)
	}
	path := filepath.Join(t.TempDir(), "study.html")
	code, out, errs := call(t, "speedtest", "report", "--csv", data, "--html", path, "--resamples", "100")
	if code != exitOK {
		t.Fatalf("code %d: %s", code, errs)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.ReplaceAll(string(page), "\u00a0", " ")
	for _, want := range []string{"4837", "359.9 Gbit/s", "550.1 Gbit/s", "&#43;52.8 %", "&#43;34.6 %", "17.7 %", "0.193", "0.165", "0.484", "0.486"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q on the page", want)
		}
		if want = strings.ReplaceAll(want, "&#43;", "+"); !strings.Contains(out, want) {
			t.Errorf("no %q in the text", want)
		}
	}
	for _, plot := range []string{"plot-scatter", "plot-errors"} {
		if !strings.Contains(shown, plot) {
			t.Errorf("no %s", plot)
		}
	}
}
