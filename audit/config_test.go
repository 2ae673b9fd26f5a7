package audit

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestDefaultsAreValid(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidate(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		knob   string
		change func(*Config)
	}{
		{"ThresholdMin", func(c *Config) { c.ThresholdMin = 0 }},
		{"ThresholdMin", func(c *Config) { c.ThresholdMin = nan }},
		{"ThresholdMax", func(c *Config) { c.ThresholdMax = 0.7 }},
		{"ThresholdMax", func(c *Config) { c.ThresholdMax = math.Inf(1) }},
		{"VoteQuantile", func(c *Config) { c.VoteQuantile = 1 }},
		{"VoteFactor", func(c *Config) { c.VoteFactor = 0 }},
		{"MinGroups", func(c *Config) { c.MinGroups = 0 }},
		{"PairSamples", func(c *Config) { c.PairSamples = 0 }},
		{"SoloSamples", func(c *Config) { c.SoloSamples = 39 }},
		{"SoloSamples", func(c *Config) { c.SoloSamples = 70_000 }},
		{"GroupAge", func(c *Config) { c.GroupAge = -1 }},
		{"Slack", func(c *Config) { c.Slack = -1 }},
		{"SlackRTTs", func(c *Config) { c.SlackRTTs = nan }},
		{"GrossFactor", func(c *Config) { c.GrossFactor = 1 }},
		{"OursMax", func(c *Config) { c.OursMax = 1 }},
		{"CoverageFactor", func(c *Config) { c.CoverageFactor = 0 }},
		{"ErrorBarMax", func(c *Config) { c.ErrorBarMax = -1 }},
		{"Span", func(c *Config) { c.Span = 0 }},
		{"Overclaims", func(c *Config) { c.Overclaims.Honest = 0.9 }},
		{"Withholding", func(c *Config) { c.Withholding.Limit = 0 }},
		{"Critical", func(c *Config) { c.Critical.Guilty = 1 }},
		{"Path", func(c *Config) { c.Path.Honest = 0 }},
		{"SlowToStart", func(c *Config) { c.SlowToStart.Limit = nan }},
		{"EchoHolding", func(c *Config) { c.EchoHolding = Chart{} }},
		{"HoldingSlack", func(c *Config) { c.HoldingSlack = -1 }},
		{"HoldingFactor", func(c *Config) { c.HoldingFactor = 0.5 }},
		{"ForgedEchoes", func(c *Config) { c.ForgedEchoes = 0 }},
	} {
		c := DefaultConfig()
		tt.change(&c)
		err := c.Validate()
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tt.knob+" must") {
			t.Errorf("%s: %v", tt.knob, err)
		}
		if a := New(c); a.cfg != DefaultConfig() {
			t.Errorf("%s: not replaced by the defaults", tt.knob)
		}
	}
}

func TestConfigIsUsed(t *testing.T) {
	c := DefaultConfig()
	c.ForgedEchoes = 1
	c.Slack = 10 * time.Second
	a := New(c)
	if v := a.Lie(0, "p", "g", ForgedEcho, ""); v.Kind != ProvenLie {
		t.Errorf("one forgery: %v", v.Kind)
	}
	if v := observeAll(a, 0, plain("q", "g", 9), 50); v.Kind != Clear {
		t.Errorf("nine seconds late within ten of slack: %v", v.Kind)
	}
}
