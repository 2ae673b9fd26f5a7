package status

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/assay-mux/assay/mux"
)

// TestMain: every goroutine ends.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, p *Peers) string {
	t.Helper()
	s, err := Start(t.Context(), "127.0.0.1:0", Handler(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.Addr()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestPages(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	conn := mux.Wrap(a)
	defer conn.Close()
	var peers Peers
	peers.Add("someone", conn.Meter())
	addr := start(t, &peers)
	for path, want := range map[string]string{
		"/healthz":             "ok\n",
		"/metrics":             "assay_connections 1",
		"/debug/pprof/":        "goroutine",
		"/debug/pprof/cmdline": "status.test",
		"/debug/pprof/symbol":  "num_symbols",
	} {
		if code, body := get(t, "http://"+addr+path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, want %q in %.300s", path, code, want, body)
		}
	}
	if code, _ := get(t, "http://"+addr+"/nothing"); code != http.StatusNotFound {
		t.Errorf("/nothing: %d", code)
	}
	if _, body := get(t, "http://"+addr+"/metrics"); strings.Contains(body, "someone") {
		t.Error("a peer's name is in the metrics, though nobody asked for series for each")
	}
	peers.Remove(conn.Meter())
	if _, body := get(t, "http://"+addr+"/metrics"); !strings.Contains(body, "assay_connections 0") {
		t.Error("a peer that left is still there")
	}
}

// TestNotTheDefaultMux: what others registered is not served, nor ours there.
func TestNotTheDefaultMux(t *testing.T) {
	http.HandleFunc("/stranger", func(http.ResponseWriter, *http.Request) {})
	if code, _ := get(t, "http://"+start(t, new(Peers))+"/stranger"); code != http.StatusNotFound {
		t.Errorf("a stranger's page is served: %d", code)
	}
}

func TestPortInUse(t *testing.T) {
	addr := start(t, new(Peers))
	_, err := Start(t.Context(), addr, Handler(new(Peers)))
	want := "cannot serve HTTP on " + addr + ", choose another address with --http: address already in use"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := Start(t.Context(), "nowhere", nil); err == nil {
		t.Error("no port: no error")
	}
}

func TestPeersConcurrently(t *testing.T) {
	var peers Peers
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			a, b := net.Pipe()
			defer b.Close()
			conn := mux.Wrap(a)
			defer conn.Close()
			for range 50 {
				peers.Add("x", conn.Meter())
				for _, p := range peers.Peers() {
					if p.Name != "x" || p.Meter == nil {
						t.Errorf("peer %+v", p)
					}
				}
				peers.Remove(conn.Meter())
			}
		})
	}
	wg.Wait()
	if n := len(peers.Peers()); n != 0 {
		t.Errorf("%d peers left", n)
	}
}
