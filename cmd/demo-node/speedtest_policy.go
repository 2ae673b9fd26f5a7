package main

import (
	"fmt"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/cmd/demo-node/internal/node"
)

// speedtestPolicy is what a node lets testers do.
type speedtestPolicy struct {
	OptOut          bool          `help:"Take no speed tests. Nobody thinks the worse of this node for it."`
	Limit           rate          `help:"Rate of this node's link: published, and a quarter of it left to ordinary traffic during speed tests." placeholder:"RATE"`
	SpeedtestEvery  time.Duration `help:"Let a tester come again after so long; by default ${default}." default:"12h" placeholder:"TIME"`
	SpeedtestPerDay size          `help:"Move no more than this for speed tests in a day; by default ${default}." default:"2GiB" placeholder:"SIZE"`
	SpeedtestNotice time.Duration `help:"Want speed tests announced so long ahead." default:"0s" placeholder:"TIME"`
	Claim           rate          `help:"Publish this as the node's capacity whatever it has observed, as a liar does." placeholder:"RATE"`
}

// apply sets a node's configuration.
func (p speedtestPolicy) apply(e *env, cfg *node.Config) error {
	pol := policy.Default()
	pol.OptOut, pol.Interval, pol.Notice, pol.DayBytes = p.OptOut, p.SpeedtestEvery, p.SpeedtestNotice, int64(p.SpeedtestPerDay)
	if pol.Interval == 0 {
		pol.GroupTests, pol.DayTests = 1024, 1024
		pol.GroupBytes = pol.DayBytes
	}
	pol.Limit = bytesPerSecond(p.Limit)
	if err := pol.Validate(); err != nil {
		return usageError{fmt.Errorf("speed tests: %w", err)}
	}
	cfg.Speedtest, cfg.Limit, cfg.Claim = &pol, pol.Limit, bytesPerSecond(p.Claim)
	cfg.SpeedtestEvent = func(ev speedtest.Event) { logSpeedtest(e, ev) }
	return nil
}

// logSpeedtest tells the operator of tests of this node.
func logSpeedtest(e *env, ev speedtest.Event) {
	log := e.log.With("tester", ev.Who.Identity)
	switch ev.Kind {
	case speedtest.Announced:
		log.Info("a speed test is announced; --opt-out refuses it", "in", ev.In)
	case speedtest.Refused:
		log.Info("speed test refused", "code", ev.Code.String(), "retry_after", ev.In)
	case speedtest.Granted:
		log.Info("speed test granted", "bytes_a_run", ev.Bytes)
	case speedtest.RunBegan:
		log.Debug("speed test begins", "way", ev.Way.String())
	case speedtest.RunEnded:
		log.Info("speed test ended", "way", ev.Way.String(), "bytes", ev.Bytes, "why", ev.Ended.String())
	}
}
