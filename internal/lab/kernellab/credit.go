package main

import (
	"flag"
	"os"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// credit shows how fast a window that does not fill the path passes.
func credit(args []string) error {
	f := flag.NewFlagSet("credit", flag.ExitOnError)
	only := f.String("only", "", "only ways whose name contains this")
	_ = f.Parse(args)
	all, err := kernelstudy.Credits(*only)
	if err != nil {
		return err
	}
	kernelstudy.WriteCredits(os.Stdout, all)
	return nil
}
