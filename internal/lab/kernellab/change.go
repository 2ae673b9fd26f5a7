package main

import (
	"flag"
	"os"
	"slices"

	"github.com/assay-mux/assay/internal/lab/kernelpath"
	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// change shows how soon a path that changes is seen.
func change(args []string) error {
	f := flag.NewFlagSet("change", flag.ExitOnError)
	_ = f.Parse(args)
	var all []kernelstudy.Change
	met := true
	for _, control := range []string{"bbr", "cubic"} {
		if !slices.Contains(kernelpath.CongestionControls(), control) {
			continue
		}
		for _, c := range kernelstudy.Changes(control) {
			if err := c.Run(); err != nil {
				return err
			}
			all = append(all, c)
			met = met && c.Met()
		}
	}
	kernelstudy.WriteChanges(os.Stdout, all)
	if !met {
		return errMissed
	}
	return nil
}
