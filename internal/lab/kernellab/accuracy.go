package main

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
	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// accuracy holds predictions against fetches, and round trips against paths.
func accuracy(args []string) error {
	f := flag.NewFlagSet("accuracy", flag.ExitOnError)
	controls := f.String("controls", "bbr,cubic", "congestion controls, of those the kernel has")
	only := f.String("only", "", "only ways whose name contains this")
	most := f.Float64("most", 500, "only ways of at most so many Mbit/s")
	lossless := f.Bool("lossless", false, "only ways without loss")
	dir := f.String("out", "build", "directory for the plot and the figures; empty for none")
	_ = f.Parse(args)
	var ways []kernelstudy.Way
	for _, c := range strings.Split(*controls, ",") {
		if !slices.Contains(kernelpath.CongestionControls(), c) {
			fmt.Printf("SKIPPED: this kernel has no %s\n", c)
			continue
		}
		ways = append(ways, kernelstudy.Grid(c)...)
		if !*lossless {
			ways = append(ways, kernelstudy.Lossy(c)...)
			ways = append(ways, kernelstudy.Shallow(c)...)
		}
	}
	ways = kernelstudy.Select(ways, *only, lab.BitRate(*most)*lab.Mbit)
	began := time.Now()
	runs, err := kernelstudy.All(ways, kernelstudy.Wrapped(kernelstudy.Window), kernelstudy.Window, func(r kernelstudy.Run) {
		fmt.Fprintf(os.Stderr, "%s  %v %s\n", time.Since(began).Round(time.Second), r.Way, r.Way.Control)
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d ways in %v\n", len(runs), time.Since(began).Round(time.Second))
	met := tell(runs, 1)
	if *dir != "" {
		if err := files(*dir, "kernel-accuracy", runs); err != nil {
			return err
		}
	}
	if !met {
		return errMissed
	}
	return nil
}

// tell prints all of it, and says whether the bars, widened by a factor, are met.
func tell(runs []kernelstudy.Run, factor float64) bool {
	met := true
	kernelstudy.WriteRTTs(os.Stdout, runs)
	misses := kernelstudy.RTTMisses(runs)
	for _, m := range misses {
		fmt.Println("round trip missed:", m)
	}
	fmt.Printf("base round trip within 2 ms or 5 %% of the path's, idle, loaded and by the kernel: %d misses\n", len(misses))
	for _, st := range []kernelstudy.State{kernelstudy.Cold, kernelstudy.Warm} {
		kernelstudy.WriteTable(os.Stdout, runs, st)
		r := kernelstudy.Judge(runs, st, factor)
		fmt.Println(r)
		met = met && r.Met()
	}
	fmt.Println("\nWith loss, of the path's or of a short queue's:")
	covered, all := kernelstudy.WriteLoss(os.Stdout, runs)
	fmt.Printf("the error bar has the truth in it in %d of %d (bar 95 %%)\n", covered, all)
	return met && len(misses) == 0 && 20*covered >= 19*all
}

// files writes the figures and the plot.
func files(dir, name string, runs []kernelstudy.Run) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, name+".csv"))
	if err != nil {
		return err
	}
	kernelstudy.WriteCSV(f, runs)
	if err := f.Close(); err != nil {
		return err
	}
	return kernelstudy.Plot(filepath.Join(dir, name+".svg"), runs)
}
