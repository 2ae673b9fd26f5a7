// Package kernelstudy measures on kernel TCP what the lab otherwise simulates:
// predictions against what fetches take, round trips, splitting and windows, a
// path that changes. Nodes are joined by paths of package kernelpath.
//
// Command kernellab runs the studies, each under a make target of its own, and
// the benchmarks' module runs them against multiplexers that are not ours.
package kernelstudy
