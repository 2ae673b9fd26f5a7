package main

// speedtestCmd measures what peers can do, and reports how true their own figures are.
type speedtestCmd struct {
	Report speedtestReportCmd `cmd:"" help:"Report what tests found: how far the peers' own figures are off."`
}
