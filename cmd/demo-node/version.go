package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

type versionCmd struct{}

// Run prints the module's version and what the build was made from.
func (versionCmd) Run(e *env) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: "unknown"}
	}
	_, err := fmt.Fprintln(e.stdout, describe(info))
	return err
}

func describe(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	var line strings.Builder
	fmt.Fprintf(&line, "demo-node %s, %s", version, info.GoVersion)
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			line.WriteString(", commit " + s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			line.WriteString(" with changes")
		}
	}
	return line.String()
}
