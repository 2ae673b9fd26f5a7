package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// split shows what splitting gains, and whose a wait for our own window is.
func split(args []string) error {
	f := flag.NewFlagSet("split", flag.ExitOnError)
	_ = f.Parse(args)
	near, err := kernelstudy.Splits(kernelstudy.SplitWay(), []int64{1 << 20, 12_000_000}, []uint32{kernelstudy.Window, 256 << 10})
	if err != nil {
		return err
	}
	far, err := kernelstudy.Splits(kernelstudy.FarWay(), []int64{12_000_000}, []uint32{256 << 10, kernelstudy.Window})
	if err != nil {
		return err
	}
	all := append(near, far...)
	kernelstudy.WriteSplits(os.Stdout, all)
	misses := kernelstudy.SplitMisses(all)
	for _, m := range misses {
		fmt.Println("missed:", m)
	}
	if len(misses) > 0 {
		return errMissed
	}
	fmt.Println("wrapped is as soon as bare or sooner, and what waits for our window is known to be ours")
	return nil
}
