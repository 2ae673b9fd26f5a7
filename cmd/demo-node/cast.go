package main

import (
	"errors"
	"io"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/cast"
)

type castCmd struct {
	Seconds int  `help:"How long to play, about." default:"55"`
	JSON    bool `name:"json" help:"Print one JSON document instead of what happens and the table."`
}

// Run plays the cast and prints how it ended, and fails if that is not as it
// must be.
func (c *castCmd) Run(e *env) error {
	if c.Seconds < 5 || c.Seconds > 3600 {
		return usageError{errors.New("--seconds must be from 5 to 3600")}
	}
	cfg := cast.Config{Length: time.Duration(c.Seconds) * time.Second, Live: e.stdout, Log: e.log}
	if c.JSON {
		cfg.Live = io.Discard
	}
	doc, bars := cast.Run(e.ctx, cfg)
	if doc == nil {
		return bars
	}
	if bars != nil {
		text := bars.Error()
		doc.Failed = &text
	}
	write := doc.WriteTable
	if c.JSON {
		write = doc.WriteJSON
	}
	return errors.Join(write(e.stdout), bars)
}
