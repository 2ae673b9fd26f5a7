//go:build race

package mux

// underRace says that the race detector slows everything down.
const underRace = true
