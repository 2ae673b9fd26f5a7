// Command labplots draws what `make lab` wrote: it is given build/lab.json.
package main

import (
	"fmt"
	"os"

	"github.com/assay-mux/assay/internal/lab/plots/page"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: labplots build/lab.json")
		os.Exit(2)
	}
	file, err := page.Write(os.Args[1])
	if file != "" {
		fmt.Println("plots in", file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "labplots:", err)
		os.Exit(1)
	}
}
