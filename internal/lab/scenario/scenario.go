package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// ErrScenario is what Parse and Load return; the text after it says at which
// line what is wrong.
var ErrScenario = errors.New("scenario: not a scenario file")

// Scenario is one file.
type Scenario struct {
	// Name is that of the file, without its ending.
	Name string `yaml:"-"`
	// About says in a sentence what it shows.
	About string `yaml:"about"`
	// Covers names where it comes from: "case 4", "exploit 17", "seed pacing".
	Covers []string `yaml:"covers"`

	Node        Node                  `yaml:"node"`
	Links       map[string]Link       `yaml:"links"`
	Bottlenecks map[string]Bottleneck `yaml:"bottlenecks"`
	Peers       []Peer                `yaml:"peers"`
	Workload    Workload              `yaml:"workload"`
	Faults      []Fault               `yaml:"faults"`

	// Without names peers, of one count or many, without which Assay runs once more,
	// as a yardstick: the result's "without".
	Without []string `yaml:"without"`

	Bars []Bar `yaml:"bars"`
}

// Load reads a file. The errors are ErrScenario and those of reading it.
func Load(path string) (*Scenario, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return s, nil
}

// Parse reads the text of a scenario, fills the defaults in and checks it. The
// error is ErrScenario.
func Parse(text []byte) (*Scenario, error) {
	s := new(Scenario)
	if err := yaml.UnmarshalWithOptions(text, s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrScenario, explain(err))
	}
	s.normal()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// explain says in one line what the decoder says, with the line's number.
func explain(err error) string {
	text := yaml.FormatError(err, false, false)
	position, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "] ")
	line, _, numbered := strings.Cut(position, ":")
	if !ok || !numbered || !strings.HasPrefix(text, "[") {
		return text
	}
	return fmt.Sprintf("line %s: %s", line, rest)
}

// Defaults, each used where the file has none.
const (
	defaultWindow  = 4 << 20
	defaultFrame   = 16 << 10
	defaultTimeout = 30e9
	defaultLimit   = 300e9
)

// normal fills the defaults in.
func (s *Scenario) normal() {
	w := &s.Workload
	w.AtOnce = max(w.AtOnce, 1)
	if w.Parallel == 0 {
		w.Parallel = w.AtOnce
	}
	orSize(&s.Node.Window, defaultWindow)
	orTime(&w.Timeout, defaultTimeout)
	orTime(&w.Limit, defaultLimit)
	for i := range s.Peers {
		p := &s.Peers[i]
		p.Count = max(p.Count, 1)
		p.PerGroup = max(p.PerGroup, 1)
		orSize(&p.Frame, defaultFrame)
	}
	for name, l := range s.Links {
		if l.Up == 0 {
			l.Up = l.Rate
			s.Links[name] = l
		}
	}
	s.Faults = repeated(s.Faults)
}

// repeated writes out the faults that come again, in order of time where all are at
// one.
func repeated(faults []Fault) []Fault {
	var out []Fault
	timed := true
	for _, f := range faults {
		timed = timed && f.InFetch == 0
		once := f
		once.Times, once.Every = 0, 0
		out = append(out, once)
		if f.InFetch > 0 || f.Every <= 0 {
			out[len(out)-1] = f // for Validate, if it wants to repeat
			continue
		}
		for range f.Times - 1 {
			once.At += f.Every
			out = append(out, once)
		}
	}
	if timed {
		slices.SortStableFunc(out, func(a, b Fault) int { return cmp.Compare(a.At+a.After, b.At+b.After) })
	}
	return out
}

func orSize(v *Size, otherwise Size) {
	if *v == 0 {
		*v = otherwise
	}
}

func orTime(v *Time, otherwise Time) {
	if *v == 0 {
		*v = otherwise
	}
}
