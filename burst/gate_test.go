package burst

import "testing"

func TestGateTransitions(t *testing.T) {
	want := map[Gate][events]Gate{
		//       opening prompt   vouched  silent   closing
		Idle:    {Open, Idle, Idle, Idle, Idle},
		Open:    {Open, Open, Open, Tripped, Idle},
		Tripped: {Open, Tripped, Tripped, Tripped, Idle},
	}
	for from, row := range want {
		for e, to := range row {
			if got := from.next(event(e)); got != to {
				t.Errorf("%v on event %d: %v, want %v", from, e, got, to)
			}
		}
	}
	if len(want) != int(Tripped)+1 {
		t.Error("a state is missing from the table")
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for g := Idle; g <= Tripped; g++ {
		seen[g.String()] = true
	}
	for r := range Reasons {
		seen[r.String()] = true
	}
	if len(seen) != 7 || seen["unknown"] {
		t.Errorf("names are not distinct: %v", seen)
	}
	if Gate(9).String() != "unknown" || Reasons.String() != "unknown" {
		t.Error("a value that is none has a name")
	}
}
