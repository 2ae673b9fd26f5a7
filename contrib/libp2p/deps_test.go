package assay_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestFewDependencies: who uses this package gets go-libp2p's interfaces, its
// yamux and its upgrader. Hosts, transports and metrics are the user's choice.
func TestFewDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Skipf("go list does not run here: %v\n%s", err, out)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/assay-mux/assay/mux") {
		t.Fatalf("go list lists something else: %v", deps)
	}
	for _, dep := range deps {
		for _, unwanted := range []string{
			"github.com/quic-go/", "github.com/pion/", "github.com/prometheus/", "go.uber.org/fx",
			"github.com/libp2p/go-libp2p/p2p/transport", "github.com/libp2p/go-libp2p/p2p/host",
			"github.com/libp2p/go-libp2p/p2p/security", "github.com/assay-mux/assay/metrics",
			"github.com/assay-mux/assay/internal/",
		} {
			if strings.HasPrefix(dep, unwanted) {
				t.Errorf("the package needs %s", dep)
			}
		}
		if dep == "github.com/libp2p/go-libp2p" {
			t.Error("the package needs all of go-libp2p")
		}
	}
}
