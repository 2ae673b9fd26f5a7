package report

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fill puts something into every field, so that none is left out for being empty.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		v.SetInt(1)
	}
}

// The names in JSON stay as they are: files of results are kept, and other programs read the report.
func TestNamesAreStable(t *testing.T) {
	for name, of := range map[string]any{"document.json": new(Document), "analysis.json": new(Analysis)} {
		fill(reflect.ValueOf(of).Elem())
		got, err := json.MarshalIndent(of, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		path := "testdata/" + name
		if *update {
			os.MkdirAll("testdata", 0o755)
			if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)+"\n"); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
