package main

import (
	"fmt"
	"runtime/debug"
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
	line := fmt.Sprintf("demo-node %s, %s", version, info.GoVersion)
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			line += ", commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			line += " with changes"
		}
	}
	return line
}
