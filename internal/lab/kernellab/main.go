// Command kernellab runs the studies of package kernelstudy on emulated paths:
// see the make targets that begin with kernel.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

// errMissed says that a bar was missed; what was printed says which.
var errMissed = errors.New("a bar is missed")

// studies are what can be run.
var studies = map[string]func(args []string) error{
	"accuracy": accuracy,
	"split":    split,
	"credit":   credit,
	"change":   change,
	"onesided": onesided,
}

func main() {
	kernelpath.Carry()
	kernelpath.Prefer()
	if len(os.Args) < 2 || studies[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: kernellab STUDY [flags], where STUDY is accuracy, onesided, split, credit or change")
		os.Exit(2)
	}
	if err := kernelpath.Available(); err != nil {
		fmt.Println("SKIPPED:", err)
		return
	}
	switch err := studies[os.Args[1]](os.Args[2:]); {
	case errors.Is(err, errMissed):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "kernellab:", err)
		os.Exit(2)
	}
}
