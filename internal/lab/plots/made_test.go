package plots

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-mux/assay/internal/lab/engine"
)

// made is a document with something of everything in it: three honest peers and
// an adversary, which are warmed up, asked, tried, copied and hedged, and judged.
func made() *engine.Document {
	r := &engine.Result{
		Chooser: "assay", Seconds: 120, UserFrom: 20, UserTo: 118,
		Peers: []*engine.PeerResult{{Name: "honest-1"}, {Name: "honest-2"}, {Name: "quiet"}, {Name: "cheat", Bad: true}},
	}
	transfer := func(at float64, peer, role, end string, user bool) *engine.TransferRecord {
		t := &engine.TransferRecord{Fetch: len(r.Transfers) + 1, At: at, Peer: peer, Role: role, End: end, User: user, Outcome: "judged", Threshold: 0.9, Gross: 3.6}
		r.Transfers = append(r.Transfers, t)
		return t
	}
	for i, p := range r.Peers {
		transfer(float64(2+4*i), p.Name, "primary", "whole", false)
	}
	for i := range 10 {
		at := 24 + 8*float64(i)
		transfer(at, fmt.Sprintf("honest-%d", 1+i%2), "primary", "whole", true).Residual = 0.1 * float64(i%3)
		r.Fetches = append(r.Fetches, &engine.FetchRecord{N: i + 1, At: at, User: true, From: fmt.Sprintf("honest-%d", 1+i%2), Wait: 0.5, Predicted: 0.45})
	}
	for i := range 3 {
		t := transfer(105+4*float64(i), "cheat", "primary", "whole", true)
		t.Residual = []float64{0.5, 6, 9}[i]
		r.Fetches = append(r.Fetches, &engine.FetchRecord{N: 11 + i, At: t.At, User: true, From: "cheat", Wait: 3, Predicted: 0.4})
	}
	transfer(50, "quiet", "exploration", "whole", true)
	transfer(60, "quiet", "shadow", "timed out", true).Outcome = "censored"
	transfer(66, "honest-2", "redundant", "another copy came first", true)
	transfer(114, "honest-1", "hedge", "whole", true)
	r.Fetches = append(r.Fetches, &engine.FetchRecord{N: 14, At: 116, User: true, Wait: 10, Failed: true})
	r.Events = []engine.EventRecord{
		{At: 30, Kind: "hold_began"}, {At: 40, Kind: "hold_ended"},
		{At: 110, Kind: "verdict_changed", Peer: "cheat", Verdict: "withholding"},
		{At: 110, Kind: "demoted", Peer: "cheat", Verdict: "withholding"},
		{At: 114, Kind: "hedged", Peer: "cheat"},
	}
	best := &engine.Result{Chooser: "oracle", Seconds: 120}
	for _, f := range r.Fetches {
		best.Fetches = append(best.Fetches, &engine.FetchRecord{N: f.N, At: f.At, User: true, Wait: 0.4})
	}
	return &engine.Document{
		Scenario: "made", Seed: 7, About: "A cheat is found & demoted, in <a drawing>.", Assay: r, Oracle: best, Pass: true,
		Summary: engine.Summary{BadPicks: 3, BadShare: 0.23, Regret: -0.0001, DemotedAfter: 4},
		Bars:    []engine.BarResult{{Bar: "summary.regret at most 5%", Found: "0.012345678901", Pass: true}},
	}
}

// drawing is what a test sees of an SVG.
type drawing struct {
	width, height float64
	texts         []textSeen
	fills         map[string]int // shapes by the colour they are filled with
	strokes       map[string]int // lines begun, by colour
	style, title  string
}

type textSeen struct {
	text             string
	left, right, top float64
	size             float64
	turned           bool
}

// see reads an SVG, and fails if it is none.
func see(t interface{ Fatal(...any) }, svg []byte) *drawing {
	d := &drawing{fills: map[string]int{}, strokes: map[string]int{}}
	dec := xml.NewDecoder(strings.NewReader(string(svg)))
	turned := 0 // groups open since one that is turned, itself included
	var in string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			in = e.Name.Local
			a := attributes(e)
			switch in {
			case "svg":
				d.width, d.height = number(a["width"]), number(a["height"])
			case "g":
				if turned > 0 || strings.HasPrefix(a["transform"], "rotate") {
					turned++
				}
			case "path":
				d.path(a)
			case "text":
				size := number(enclosed(a["style"], "font-size:", "px"))
				d.texts = append(d.texts, textSeen{
					left: number(a["x"]), right: number(a["x"]) + number(a["textLength"]), size: size, turned: turned > 0,
					top: d.height + number(a["y"]) - size, // the writer turns the drawing upside down
				})
			}
		case xml.EndElement:
			if in = ""; e.Name.Local == "g" && turned > 0 {
				turned--
			}
		case xml.CharData:
			switch in {
			case "text":
				d.texts[len(d.texts)-1].text += string(e)
			case "style":
				d.style += string(e)
			case "title":
				d.title += string(e)
			}
		}
	}
}

func attributes(e xml.StartElement) map[string]string {
	all := map[string]string{}
	for _, a := range e.Attr {
		all[a.Name.Local] = a.Value
	}
	return all
}

func enclosed(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

var colours = regexp.MustCompile(`(fill|stroke):(#[0-9A-F]{6})`)

func (d *drawing) path(a map[string]string) {
	for _, m := range colours.FindAllStringSubmatch(a["style"], -1) {
		n := strings.Count(a["d"], "M")
		if m[1] == "fill" {
			d.fills[m[2]] += n
		} else {
			d.strokes[m[2]] += n
		}
	}
}

// has says whether a text is in the drawing.
func (d *drawing) has(text string) bool {
	for _, s := range d.texts {
		if s.text == text {
			return true
		}
	}
	return false
}

// wrong says which texts are cut off or over each other.
func (d *drawing) wrong() []string {
	var out []string
	for i, a := range d.texts {
		switch {
		case a.turned:
			continue
		case math.IsNaN(a.left+a.right+a.top) || a.left < 0 || a.right > d.width || a.top < 0 || a.top+a.size > d.height:
			out = append(out, fmt.Sprintf("%q is cut off: %.0f to %.0f, top %.0f", a.text, a.left, a.right, a.top))
		}
		for _, b := range d.texts[i+1:] {
			if !b.turned && a.left < b.right && b.left < a.right && a.top < b.top+b.size && b.top < a.top+a.size {
				out = append(out, fmt.Sprintf("%q and %q are over each other", a.text, b.text))
			}
		}
	}
	return out
}

func drawOf(t testing.TB, d *engine.Document) *drawing {
	t.Helper()
	svg, err := Draw(d)
	if err != nil {
		t.Fatal(err)
	}
	return see(t, svg)
}
