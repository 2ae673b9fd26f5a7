package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
)

// prometheus is a server under way.
type prometheus struct {
	process *process
	url     string
}

// serve starts a server on the configuration in a directory, and waits until it
// is ready.
func (t tools) serve(ctx context.Context, tmp string) (*prometheus, error) {
	addr, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	var last lastLine
	p, err := start(exec.CommandContext(ctx, t.server, "--config.file="+filepath.Join(tmp, "monitoring", "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(tmp, "tsdb"), "--web.listen-address="+addr,
		"--enable-feature=native-histograms", "--log.level=warn"), last.set)
	if err != nil {
		return nil, err
	}
	s := &prometheus{p, "http://" + addr}
	for range 100 {
		if _, err = get(ctx, s.url+"/-/ready"); err == nil {
			return s, nil
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return s, err
		}
	}
	return s, fmt.Errorf("prometheus does not become ready: %w; its last line: %s", err, last.get())
}

// freePort is an address that nobody listens on, or did not a moment ago.
func freePort(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// get is the body of a page.
func get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.500s", url, res.Status, body)
	}
	return body, err
}

// readSnapshot asks a node what it knows.
func readSnapshot(ctx context.Context, addr string) (s status.Snapshot, err error) {
	body, err := get(ctx, "http://"+addr+"/debug/snapshot")
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(body, &s)
}

// api asks the server's API for what is in data.
func (p *prometheus) api(ctx context.Context, path string, values url.Values, data any) error {
	body, err := get(ctx, p.url+"/api/v1/"+path+"?"+values.Encode())
	if err != nil {
		return err
	}
	return json.Unmarshal(body, &struct {
		Data any `json:"data"`
	}{data})
}

// sample is one series of an answer.
type sample struct {
	Metric    map[string]string  `json:"metric"`
	Value     [2]json.RawMessage `json:"value"`     // the instant, and a number as text
	Histogram [2]json.RawMessage `json:"histogram"` // likewise, an object
}

// native is a histogram with native buckets.
type native struct {
	Count string `json:"count"`
	Sum   string `json:"sum"`
}

// query asks for what an expression is now.
func (p *prometheus) query(ctx context.Context, expr string) ([]sample, error) {
	var data struct {
		Result []sample `json:"result"`
	}
	err := p.api(ctx, "query", url.Values{"query": {expr}}, &data)
	return data.Result, err
}

// histogram reads a sample that is one.
func (s sample) histogram() (h native, ok bool, err error) {
	if s.Histogram[1] == nil {
		return h, false, nil
	}
	return h, true, json.Unmarshal(s.Histogram[1], &h)
}

// number reads a sample that is one.
func (s sample) number() (float64, error) {
	var text string
	if err := json.Unmarshal(s.Value[1], &text); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}
