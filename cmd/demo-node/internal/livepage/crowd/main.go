// Crowd serves the live page with made-up peers, as many as wanted, for tests of
// the page in a browser. Nothing is measured: rates wander, some peers withhold,
// one lies, and the real audit says what it makes of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/livepage"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to serve")
	peers := flag.Int("peers", 500, "how many peers")
	seed := flag.Uint64("seed", 1, "of their randomness")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *addr, *peers, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "crowd:", err)
		os.Exit(1)
	}
}

// serve serves until ctx ends, and prints where as its first line.
func serve(ctx context.Context, addr string, peers int, seed uint64) error {
	if peers < 1 || peers > 100_000 {
		return errors.New("-peers must be from 1 to 100000")
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	page := livepage.New(newCrowd(peers, seed, time.Now))
	defer page.Close()
	server := &http.Server{Handler: page.Over(http.NotFoundHandler()), ReadHeaderTimeout: 5 * time.Second}
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	fmt.Printf("http://%s/\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
