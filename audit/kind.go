package audit

import "strings"

// Kind is what the audit says of a peer. The order is that of gravity: where several stand, the
// gravest is the verdict.
type Kind uint8

// The kinds.
const (
	// Clear: nothing stands against the peer.
	Clear Kind = iota
	// SlowToStart: first bytes keep coming late. No fault: a cold disk, a busy peer.
	SlowToStart
	// Path: fetches keep stalling together with our echoes, or where the kernel saw loss. No fault.
	Path
	// Overclaims: the peer delivers slower than its own rate says. No fault and reversible; an
	// honest slow disk ends here, and calibration takes away what overclaiming buys.
	Overclaims
	// NeverAlone: the peer missed too many critical fetches to be trusted alone with one. Protects
	// the fetch, punishes nobody.
	NeverAlone
	// Withholding: the peer is alive, could deliver, and grossly does not. Punitive; it stands until
	// a long clean run, or a pardon.
	Withholding
	// ProvenLie: a size that proved false, or echoes of cookies never issued. Punitive; it stands
	// until a pardon.
	ProvenLie

	kindCount
)

var kindNames = [kindCount]string{
	"clear", "slow to start", "path", "overclaims", "never alone", "withholding", "proven lie",
}

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	if k >= kindCount {
		return "unknown"
	}
	return kindNames[k]
}

// Punitive says whether the kind is a fault of the peer's, to be remembered against it.
func (k Kind) Punitive() bool { return k == Withholding || k == ProvenLie }

// Kinds is a set of kinds.
type Kinds uint16

// Has says whether the set holds a kind. Clear is what the empty set holds.
func (s Kinds) Has(k Kind) bool {
	if k == Clear {
		return s == 0
	}
	return s&(1<<k) != 0
}

// Gravest returns the gravest kind of the set.
func (s Kinds) Gravest() Kind {
	for k := kindCount - 1; k > Clear; k-- {
		if s.Has(k) {
			return k
		}
	}
	return Clear
}

// String lists the set, the gravest first.
func (s Kinds) String() string {
	if s == 0 {
		return Clear.String()
	}
	var names []string
	for k := kindCount - 1; k > Clear; k-- {
		if s.Has(k) {
			names = append(names, k.String())
		}
	}
	return strings.Join(names, ", ")
}

func (s Kinds) with(k Kind) Kinds { return s | 1<<k }
