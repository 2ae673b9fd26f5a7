package main

type fetchCmd struct {
	Addr string `arg:"" help:"HOST:PORT of the peer."`
}

// Run fetches.
func (c *fetchCmd) Run(e *env) error { return nil }
