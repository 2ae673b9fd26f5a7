// Command testcount runs go test in one or more modules and says how many
// tests ran.
//
// go test prints a line a package, and nothing tells a run of a thousand tests
// from a run in which a build tag left none. testcount reads go test's JSON
// (see go doc test2json), prints a line a package, all that a failed test
// printed, why a test was skipped, and at last the line
//
//	N passed, N failed, N skipped
//
// A test that has subtests is counted by them; a fuzz target, whatever its
// seeds, counts once. A package that does not build, or fails outside its
// tests, counts as one failure. The exit code is 0 if nothing failed and
// anything ran, 1 if not, 2 if it was called wrongly.
//
// Usage:
//
//	go run ./internal/testcount [-race auto|on|off] [-unraced regexp] [-timeout d] [-flags "..."] [module directory ...]
//
// The race detector allocates, so that tests that count allocations are built
// without it only: -unraced names them, for a second run.
package main
