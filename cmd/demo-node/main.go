// Command demo-node is a content-addressed store-and-fetch node whose yamux
// sessions are measured. `demo-node pair` runs two of them against each other
// and shows what each makes of the other.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt is no longer caught, and kills.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
