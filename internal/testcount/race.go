package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// self is a program that surely builds, being this one.
const self = "github.com/assay-mux/assay/internal/testcount"

// raceFlag returns the flag that turns the race detector on, or "" if it is
// off. It needs a C compiler and a platform that has it: auto tries it on a
// program, and says so if it does not work.
func raceFlag(mode string, out io.Writer) string {
	if mode == "off" {
		return ""
	}
	if mode == "auto" {
		message, err := exec.Command("go", "build", "-race", "-o", os.DevNull, self).CombinedOutput()
		if err != nil {
			fmt.Fprintf(out, "Testing without the race detector, which does not work here; it needs cgo and a C compiler:\n%s", message)
			return ""
		}
	}
	return "-race"
}
