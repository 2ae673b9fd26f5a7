// Package scenario is the format of the lab's scenario files: which peers there
// are, over which links and with which behaviours, what is fetched, what goes
// wrong on our side, and which bars the result has to pass.
//
// A file is YAML, read strictly: a key that does not exist, or a value without
// its unit, is an error that names the line. What a peer does is put together
// from few orthogonal mechanisms ([Do]) and conditions ([When]), so that a new
// scenario, like a new bar, is a new file and no code. docs/scenarios.md has a
// page on it, with an example.
//
// The package has values only; package internal/lab/engine acts them out.
package scenario
