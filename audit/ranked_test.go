package audit

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naiveMedian is the definition.
func naiveMedian(values []float64) float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	switch n := len(s); {
	case n == 0:
		return 0
	case n%2 == 1:
		return s[n/2]
	default:
		return (s[n/2-1] + s[n/2]) / 2
	}
}

func TestMedians(t *testing.T) {
	for _, tt := range []struct {
		values  []float64
		median  float64
		without []float64 // for each value
	}{
		{nil, 0, nil},
		{[]float64{3}, 3, []float64{0}},
		{[]float64{1, 3}, 2, []float64{3, 1}},
		{[]float64{5, 1, 3}, 3, []float64{2, 4, 3}},
		{[]float64{2, 2, 2, 9}, 2, []float64{2, 2, 2, 2}},
	} {
		var r ranked
		for i, v := range tt.values {
			r.add(entry{v, uint64(i)})
		}
		if got := r.median(); got != tt.median {
			t.Errorf("%v: median %v, want %v", tt.values, got, tt.median)
		}
		for i, want := range tt.without {
			if got := r.medianWithout(entry{tt.values[i], uint64(i)}); got != want {
				t.Errorf("%v without %v: median %v, want %v", tt.values, tt.values[i], got, want)
			}
		}
	}
}

// A list stays sorted, and its medians right, through any changes. Values are few, so that many are
// equal.
func TestRankedAgainstSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ranked
		model := map[uint64]float64{}
		value := rapid.Map(rapid.IntRange(0, 6), func(i int) float64 { return float64(i) })
		id := rapid.Uint64Range(0, 20)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				id, v := id.Draw(t, "id"), value.Draw(t, "value")
				if old, there := model[id]; there {
					r.replace(entry{old, id}, v)
				} else {
					r.add(entry{v, id})
				}
				model[id] = v
			},
			"drop": func(t *rapid.T) {
				id := id.Draw(t, "id")
				r.drop(entry{model[id], id})
				delete(model, id)
			},
			"": func(t *rapid.T) {
				if !slices.IsSortedFunc(r, compare) || len(r) != len(model) {
					t.Fatalf("%v for %v", r, model)
				}
				var values []float64
				for _, v := range model {
					values = append(values, v)
				}
				if got, want := r.median(), naiveMedian(values); got != want {
					t.Fatalf("median %v, want %v", got, want)
				}
				for id, v := range model {
					var others []float64
					for other, v := range model {
						if other != id {
							others = append(others, v)
						}
					}
					if got, want := r.medianWithout(entry{v, id}), naiveMedian(others); got != want {
						t.Fatalf("median without %d: %v, want %v", id, got, want)
					}
				}
			},
		})
	})
}

func TestReplaceOfAStranger(t *testing.T) {
	r := ranked{{1, 1}, {2, 2}}
	r.replace(entry{1, 7}, 9)
	if !slices.Equal(r, ranked{{1, 1}, {2, 2}}) {
		t.Errorf("got %v", r)
	}
}
