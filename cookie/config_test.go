package cookie

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestConfigValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   error
	}{
		{"default", func(*Config) {}, nil},
		{"none outstanding", func(c *Config) { c.MaxOutstanding = 0 }, ErrMaxOutstanding},
		{"32 outstanding", func(c *Config) { c.MaxOutstanding = 32 }, nil},
		{"33 outstanding", func(c *Config) { c.MaxOutstanding = 33 }, ErrMaxOutstanding},
		{"no interval", func(c *Config) { c.MinInterval = 0 }, nil},
		{"negative interval", func(c *Config) { c.MinInterval = -1 }, ErrMinInterval},
		{"skip at once", func(c *Config) { c.SkipAfter = 0 }, ErrSkipAfter},
		{"skip after 96", func(c *Config) { c.SkipAfter = 96 }, nil},
		{"skip after 97", func(c *Config) { c.SkipAfter = 97 }, ErrSkipAfter},
		{"no age", func(c *Config) { c.MaxAge = 0 }, ErrMaxAge},
		{"no load", func(c *Config) { c.LoadedAfter = 0 }, ErrLoadedAfter},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := DefaultConfig()
			tt.change(&cfg)
			if err := cfg.Validate(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			// A queue is usable whatever its config.
			q := NewQueue(cfg, testKey, nil)
			if v, ok := q.Issue(0, 0); !ok || q.Echo(v, ms, 0).Outcome != Sample {
				t.Error("the queue does not work")
			}
		})
	}
}

func TestRTTConfigValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*RTTConfig)
		want   error
	}{
		{"default", func(*RTTConfig) {}, nil},
		{"coarse", func(c *RTTConfig) { c.Compression = 19 }, ErrCompression},
		{"fine", func(c *RTTConfig) { c.Compression = 201 }, ErrCompression},
		{"not a number", func(c *RTTConfig) { c.Compression = math.NaN() }, ErrCompression},
		{"no half span", func(c *RTTConfig) { c.HalfSpan = 0 }, ErrSpan},
		{"no base span", func(c *RTTConfig) { c.BaseSpan = 0 }, ErrSpan},
		{"no flush", func(c *RTTConfig) { c.Flush = 0 }, ErrSpan},
		{"no max", func(c *RTTConfig) { c.Max = 0 }, ErrSpan},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := DefaultRTTConfig()
			tt.change(&cfg)
			if err := cfg.Validate(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			r := NewRTT(cfg)
			r.Observe(0, 30*ms, false)
			if got := r.Reading(time.Second).P50; got != 30*ms {
				t.Errorf("P50 = %v, want 30ms", got)
			}
		})
	}
}

func TestOutcomeNames(t *testing.T) {
	want := map[Outcome]string{
		Foreign: "foreign", Sample: "sample", Late: "late",
		Replay: "replay", Forged: "forged", Outcome(99): "unknown",
	}
	for o, name := range want {
		if o.String() != name {
			t.Errorf("%d is %q, want %q", o, o, name)
		}
	}
}
