package archtest

import "strings"

// module is the path of this module.
const module = "github.com/assay-mux/assay"

// Third-party modules that our packages may import. Whoever uses a package of
// ours gets what it imports, so that each has its reason: the multiplexer we
// wrap, the quantile sketch, the metrics' client, the kernel's TCP figures.
const (
	yamux      = "github.com/hashicorp/yamux"
	tdigest    = "github.com/caio/go-tdigest/v4"
	prometheus = "github.com/prometheus/client_golang"
	wireTypes  = "github.com/prometheus/client_model"
	kernel     = "golang.org/x/sys"
)

// rule is what one package may do.
type rule struct {
	ours    []string // the packages of this module it may import, relative to it
	modules []string // the third-party modules it may import
	live    bool     // does I/O: has a clock, goroutines, sockets
}

// rules has every public package. Imports point one way, and what is not live
// is a state machine or a view of one: time is an argument, and a test says
// what o'clock it is.
var rules = map[string]rule{
	"cookie": {modules: []string{tdigest}},
	"burst":  {},
	"audit":  {modules: []string{tdigest}},
	// Over streams of whatever session; its tests have one of mux, and a ranker that looks on.
	"audit/speedtest": {ours: []string{
		"burst", "mux", "ranking",
		"audit/speedtest/curve", "audit/speedtest/keystream", "audit/speedtest/message",
		"audit/speedtest/passive", "audit/speedtest/policy", "audit/speedtest/report",
	}, live: true},
	"audit/speedtest/curve":     {},
	"audit/speedtest/keystream": {},
	"audit/speedtest/message":   {ours: []string{"audit/speedtest/keystream", "audit/speedtest/passive"}},
	"audit/speedtest/policy":    {},
	"audit/speedtest/campaign":  {ours: []string{"audit/speedtest/passive", "audit/speedtest/report"}},
	// What a node observes of itself, and what a report makes of a test: values and arithmetic.
	"audit/speedtest/passive": {},
	"audit/speedtest/report":  {ours: []string{"audit/speedtest/passive"}},
	"ranking":                 {ours: []string{"burst", "audit"}, modules: []string{tdigest}},
	// What writes the ranker's state to a file, so that the ranker itself does no I/O. A meter, which
	// its tests need, speaks in values of burst.
	"ranking/statefile": {ours: []string{"ranking", "burst"}, live: true},
	"mux":               {ours: []string{"cookie", "burst"}, modules: []string{yamux, kernel}, live: true},
	// Native histograms are put together in the client's own wire types.
	"metrics": {
		ours:    []string{"mux", "cookie", "burst", "ranking", "audit", "audit/speedtest/campaign", "audit/speedtest/report"},
		modules: []string{prometheus, wireTypes},
	},
}

// forTests is what the tests of any package may import besides.
var forTests = rule{
	ours: []string{"internal/lab", "internal/lab/bubble"},
	modules: []string{
		"pgregory.net/rapid", "go.uber.org/goleak", "github.com/google/go-cmp", "github.com/prometheus", yamux,
	},
}

// wiring are the trees that put packages together. They may import any, and
// nothing else may import metrics.
var wiring = []string{"cmd", "internal/lab"}

// within says whether path is root or below it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

// withinAny says whether path is within one of roots.
func withinAny(path string, roots []string) bool {
	for _, root := range roots {
		if within(path, root) {
			return true
		}
	}
	return false
}
