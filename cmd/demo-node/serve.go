package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/assay-mux/assay/cmd/demo-node/internal/behave"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
	"github.com/assay-mux/assay/cmd/demo-node/internal/report"
	"github.com/assay-mux/assay/cmd/demo-node/internal/status"
	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
)

type serveCmd struct {
	Dir    string   `arg:"" help:"Directory whose regular files to offer."`
	Listen string   `help:"Where peers connect; by default ${default}." default:"127.0.0.1:7001" placeholder:"HOST:PORT"`
	TLS    bool     `name:"tls" help:"Encrypt, with a certificate made at start."`
	Window size     `help:"Receive window of a stream." default:"16MiB"`
	Behave []string `help:"Be a bad peer, or a slow one, in one or several of the ways above." placeholder:"HOW"`
	speedtestPolicy
	served
}

// Help is below the first line of the command's help.
func (serveCmd) Help() string {
	return "With --behave it is a bad peer, or a slow one:\n\n  " + strings.ReplaceAll(behave.Help(), "\n", "\n  ")
}

// Run serves until interrupted.
func (c *serveCmd) Run(e *env) error {
	win, err := window(c.Window)
	if err != nil {
		return err
	}
	how, err := behave.Parse(c.Behave...)
	if err != nil {
		return usageError{fmt.Errorf("--behave: %w", err)}
	}
	files, err := store.Open(e.ctx, c.Dir, e.log)
	if err != nil {
		return err
	}
	var w show
	cfg := node.Config{
		Store: files, Window: win, Behave: how, Log: e.log,
		Joined: func(p *node.Peer) { w.add(p.Name(), p) }, Left: w.remove,
	}
	if err := c.speedtestPolicy.apply(e, &cfg); err != nil {
		return err
	}
	if c.TLS {
		if cfg.TLS, err = node.NewTLS(); err != nil {
			return err
		}
		e.log.Info("certificate", "fingerprint", cfg.TLS.Fingerprint())
	}
	l, err := listen(e.ctx, c.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	web, err := w.serve(e.ctx, c.HTTP, status.Handler(&w.peers))
	if err != nil {
		return err
	}
	defer web.Close()
	said := []any{"addr", l.Addr().String(), "files", len(files.Offers()), "size", report.Decimal(files.Bytes())}
	e.log.Info("serving", append(said, web.places()...)...)
	node.New(cfg).Serve(e.ctx, l)
	return nil
}

// listen opens the port for peers.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return nil, fmt.Errorf("cannot listen on %s, choose another address with --listen: %w", addr, err)
}
