package engine

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/assay-mux/assay/internal/lab/scenario"
)

// BarResult is how a bar was met.
type BarResult struct {
	// Bar is it as a line, Found what the document has.
	Bar   string `json:"bar"`
	Found string `json:"found"`
	Pass  bool   `json:"pass"`
	Why   string `json:"why"`
}

// Judge holds a document to bars. A path that leads to nothing fails its bar.
func Judge(d *Document, bars []scenario.Bar) []BarResult {
	root := tree(d)
	out := make([]BarResult, 0, len(bars))
	for _, b := range bars {
		out = append(out, judge(root, b))
	}
	return out
}

// tree is the document as its JSON is: objects, lists and values.
func tree(d *Document) map[string]any {
	text, err := json.Marshal(d)
	if err != nil {
		return nil // a document has nothing that JSON does not; every bar fails
	}
	var root map[string]any
	_ = json.Unmarshal(text, &root) // it was just marshalled
	return root
}

type found struct {
	name  string
	value any
}

// find returns what a path leads to. What is not at the root is looked for in
// Assay's own run.
func find(root map[string]any, at string) []found {
	names := strings.Split(at, ".")
	if _, ok := root[names[0]]; !ok {
		if own, ok := root["assay"].(map[string]any); ok {
			root = own
		}
	}
	here := []found{{"", root}}
	for _, name := range names {
		var next []found
		for _, f := range here {
			next = append(next, children(f, name)...)
		}
		here = next
	}
	return here
}

// children are what a name, which may have *, leads to from a place.
func children(f found, name string) []found {
	var out []found
	switch v := f.value.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if match(name, k) {
				out = append(out, found{join(f.name, k), v[k]})
			}
		}
	case []any:
		for _, e := range v {
			o, ok := e.(map[string]any)
			if !ok {
				continue
			}
			if k, ok := o["name"].(string); ok && match(name, k) {
				out = append(out, found{join(f.name, k), e})
			}
		}
	}
	return out
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func judge(root map[string]any, b scenario.Bar) BarResult {
	r := BarResult{Bar: line(b), Why: b.Why}
	got := find(root, b.Path)
	if len(got) == 0 {
		r.Found = "nothing is there"
		return r
	}
	times := 1.0
	if b.Of != "" {
		of := find(root, b.Of)
		n, ok := 0.0, false
		if len(of) == 1 {
			n, ok = numberOf(of[0].value)
		}
		if !ok {
			r.Found = b.Of + " is no number"
			return r
		}
		times = n
	}
	got, err := fold(got, b.Over)
	if err != nil {
		r.Found = err.Error()
		return r
	}
	r.Pass = b.Over != "any"
	for _, f := range got {
		ok := meets(f.value, b, times)
		if b.Over == "any" {
			r.Pass = r.Pass || ok
			r.Found = fmt.Sprintf("%d values", len(got))
			continue
		}
		if !ok && r.Pass {
			r.Pass = false
			r.Found = fmt.Sprintf("%s is %v", f.name, f.value)
		}
		if r.Found == "" {
			r.Found = fmt.Sprint(f.value)
		}
	}
	return r
}

// fold makes one of several values.
func fold(got []found, over string) ([]found, error) {
	if over == "" || over == "each" || over == "any" {
		return got, nil
	}
	var v []float64
	for _, f := range got {
		n, ok := numberOf(f.value)
		if !ok {
			return nil, fmt.Errorf("%s is no number", f.name)
		}
		v = append(v, n)
	}
	sum := 0.0
	for _, n := range v {
		sum += n
	}
	one := map[string]float64{"sum": sum, "mean": sum / float64(len(v)), "max": slices.Max(v), "min": slices.Min(v)}[over]
	return []found{{over, one}}, nil
}

// numberOf is a value as a number; true is 1.
func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// meets says whether a value is within all bounds of a bar.
func meets(v any, b scenario.Bar, times float64) bool {
	n, isNumber := numberOf(v)
	within := func(bound *scenario.Value, ok func(bound float64) bool) bool {
		return bound == nil || isNumber && bound.IsNumber && ok(bound.Number*times)
	}
	return (b.Is == nil || equal(v, *b.Is)) && (b.Not == nil || !equal(v, *b.Not)) &&
		within(b.AtMost, func(x float64) bool { return n <= x }) &&
		within(b.AtLeast, func(x float64) bool { return n >= x }) &&
		within(b.Below, func(x float64) bool { return n < x }) &&
		within(b.Above, func(x float64) bool { return n > x })
}

func equal(v any, want scenario.Value) bool {
	if n, ok := v.(float64); ok {
		return want.IsNumber && n == want.Number
	}
	return fmt.Sprint(v) == want.Text
}

// line is a bar in a line.
func line(b scenario.Bar) string {
	out := b.Path
	if b.Over != "" {
		out = b.Over + " of " + out
	}
	for _, bound := range []struct {
		word string
		v    *scenario.Value
	}{{"is", b.Is}, {"is not", b.Not}, {"at most", b.AtMost}, {"at least", b.AtLeast}, {"below", b.Below}, {"above", b.Above}} {
		if bound.v != nil {
			out += " " + bound.word + " " + bound.v.Text
		}
	}
	if b.Of != "" {
		out += " times " + b.Of
	}
	return out
}
