package kernelstudy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assay-mux/assay/internal/lab"
	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

// Peer is what serves in a study of accuracy.
type Peer struct {
	Name  string // of the files that are written
	Start Server
	// Factor widens the bars, for a peer that is not wrapped.
	Factor float64
	// Plot, unless nil, writes an SVG.
	Plot func(path string, runs []Run) error
}

// Accuracy holds predictions against fetches, and round trips against paths, as
// flags say, and prints all of it. It says whether the bars are met.
func Accuracy(args []string, peer Peer) (met bool, err error) {
	f := flag.NewFlagSet(peer.Name, flag.ExitOnError)
	controls := f.String("controls", "bbr,cubic", "congestion controls, of those the kernel has")
	only := f.String("only", "", "only ways whose name contains this")
	most := f.Float64("most", 500, "only ways of at most so many Mbit/s")
	lossless := f.Bool("lossless", false, "only ways without loss")
	dir := f.String("out", "build", "directory for the plot and the figures; empty for none")
	_ = f.Parse(args)
	ways := Select(waysOf(strings.Split(*controls, ","), *lossless), *only, lab.BitRate(*most)*lab.Mbit)
	began := time.Now()
	runs, err := All(ways, peer.Start, Window, func(r Run) {
		fmt.Fprintf(os.Stderr, "%s  %v %s\n", time.Since(began).Round(time.Second), r.Way, r.Way.Control)
	})
	if err != nil {
		return false, err
	}
	fmt.Printf("%d ways in %v\n", len(runs), time.Since(began).Round(time.Second))
	met = tell(runs, peer.Factor)
	if *dir != "" {
		err = peer.files(*dir, runs)
	}
	return met, err
}

// waysOf are all ways under those congestion controls that the kernel has.
func waysOf(controls []string, lossless bool) (ways []Way) {
	for _, c := range controls {
		if !slices.Contains(kernelpath.CongestionControls(), c) {
			fmt.Printf("SKIPPED: this kernel has no %s\n", c)
			continue
		}
		ways = append(ways, Grid(c)...)
		if !lossless {
			ways = append(ways, Lossy(c)...)
			ways = append(ways, Shallow(c)...)
		}
	}
	return ways
}

// tell prints all of it, and says whether the bars, widened by a factor, are met.
func tell(runs []Run, factor float64) bool {
	met := true
	WriteRTTs(os.Stdout, runs)
	misses := RTTMisses(runs)
	for _, m := range misses {
		fmt.Println("round trip missed:", m)
	}
	fmt.Printf("base round trip within 2 ms or 5 %% of the path's, idle, loaded and by the kernel: %d misses\n", len(misses))
	for _, st := range []State{Cold, Warm} {
		WriteTable(os.Stdout, runs, st)
		r := Judge(runs, st, factor)
		fmt.Println(r)
		met = met && r.Met()
	}
	fmt.Println("\nWith loss, of the path's or of a short queue's:")
	covered, all := WriteLoss(os.Stdout, runs)
	fmt.Printf("the error bar has the truth in it in %d of %d (bar 95 %%)\n", covered, all)
	return met && len(misses) == 0 && 20*covered >= 19*all
}

// files writes the figures and the plot.
func (p Peer) files(dir string, runs []Run) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, p.Name+".csv"))
	if err != nil {
		return err
	}
	WriteCSV(f, runs)
	if err := f.Close(); err != nil {
		return err
	}
	if p.Plot == nil {
		return nil
	}
	return p.Plot(filepath.Join(dir, p.Name+".svg"), runs)
}
