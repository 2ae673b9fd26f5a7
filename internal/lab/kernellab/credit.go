package main

import (
	"os"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
)

// credit shows how fast a window that does not fill the path passes.
func credit([]string) error {
	all, err := kernelstudy.Credits()
	if err != nil {
		return err
	}
	kernelstudy.WriteCredits(os.Stdout, all)
	return nil
}
