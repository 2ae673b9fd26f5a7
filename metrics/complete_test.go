package metrics

import (
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/assay-mux/assay/burst"
	"github.com/assay-mux/assay/mux"
)

// unshown are the fields of a snapshot that no metric shows, and why.
var unshown = map[string]string{
	"Burst.Opened":   "an instant, which means nothing outside its session",
	"Burst.Deadline": "an instant, the last arrival plus the horizon while the gate is open",
	"Burst.Fetches":  "the same as Fetches",

	"Streams": "the multiplexer has the like; here it says that what a meter keeps is bounded",

	"RTT.UnloadedP50": "the same as P50 as soon as there is an unloaded sample",
	"RTT.UnloadedP95": "the same as P95 as soon as there is an unloaded sample",
}

// TestNothingIsLeftOut changes each field of a snapshot in turn. If no metric
// changes with it, the operator can't see it: show it, or say above why not.
func TestNothingIsLeftOut(t *testing.T) {
	before := shown(t, full())
	changed := full()
	each(reflect.ValueOf(&changed).Elem(), "", func(path string, field reflect.Value) {
		kept := reflect.New(field.Type()).Elem()
		kept.Set(field)
		alter(t, path, field)
		same := maps.Equal(before, shown(t, changed))
		field.Set(kept)
		if _, meant := unshown[path]; same != meant {
			t.Errorf("%s: in no metric: %v, meant so: %v", path, same, meant)
		}
	})
}

// shown is what a collector makes of a snapshot.
func shown(t *testing.T, s mux.Snapshot) map[string]float64 {
	t.Helper()
	return gather(t, NewCollector(of(Peer{Snapshot: s}))).series()
}

// each visits the leaves of a struct.
func each(v reflect.Value, path string, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			each(v.Field(i), name, visit)
		}
	case reflect.Array:
		for i := range v.Len() {
			each(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	default:
		visit(path, v)
	}
}

// alter gives a field another plausible value.
func alter(t *testing.T, path string, field reflect.Value) {
	t.Helper()
	switch {
	case field.Type() == reflect.TypeFor[burst.Gate]():
		field.Set(reflect.ValueOf(burst.Tripped))
	case path == "Kernel.At":
		field.SetInt(0) // never read
	case path == "Kernel.AckAge":
		field.SetInt(field.Int() * 100) // no longer fresh
	case field.CanInt():
		field.SetInt(field.Int() + field.Int()/2 + 1)
	case field.CanUint():
		field.SetUint(field.Uint() + 1)
	case field.CanFloat():
		field.SetFloat(field.Float() * 2)
	case field.Kind() == reflect.Bool:
		field.SetBool(!field.Bool())
	default:
		t.Fatalf("%s is a %v: say here how to alter it", path, field.Type())
	}
}

// TestTwoCollectors: a label apart, two fit into one registry.
func TestTwoCollectors(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	for _, network := range []string{"main", "test"} {
		labelled := prometheus.WrapRegistererWith(prometheus.Labels{"network": network}, reg)
		if err := labelled.Register(NewCollector(of(Peer{Name: network}), WithPerPeer(1))); err != nil {
			t.Fatal(err)
		}
	}
	got, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	check(t, families(got).series(), map[string]float64{
		`assay_connections{network="main"}`: 1, `assay_connections{network="test"}`: 1,
	})
}

// TestSourcePanics: the collector survives a source that does not.
func TestSourcePanics(t *testing.T) {
	bad := true
	c := NewCollector(SourceFunc(func() []Peer {
		if bad {
			panic("the source's own fault")
		}
		return []Peer{{Snapshot: counting(1, 5)}}
	}))
	func() {
		defer func() { _ = recover() }()
		c.scrape()
	}()
	bad = false
	check(t, gather(t, c).series(), map[string]float64{payload: 5})
}
