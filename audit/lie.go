package audit

import "time"

// LieKind is a kind of proof that a peer lied.
type LieKind uint8

// The kinds of proof.
const (
	// NoLie: none.
	NoLie LieKind = iota
	// FalseSize: the datum's exact bytes, hashed, are not the size that the peer gave for them. One
	// is proof.
	FalseSize
	// ForgedEcho: an echo of a cookie that was never issued. Config.ForgedEchoes of them are proof.
	// An echo that is late or came twice is neither a forgery nor a lie: don't report it.
	ForgedEcho
)

// String returns the name of the lie in lower case.
func (k LieKind) String() string {
	switch k {
	case NoLie:
		return "no lie"
	case FalseSize:
		return "false size"
	case ForgedEcho:
		return "forged echoes"
	}
	return "unknown"
}

// Lie takes in one proof against a peer and returns what stands against it now. detail is for
// people, a clause like "said 1 MB for 64 kB"; it is cut at 200 bytes, and the first one is kept.
func (a *Auditor) Lie(now time.Duration, name, group string, kind LieKind, detail string) Verdict {
	p := a.peer(now, name, group)
	spoke := p.speaks()
	switch kind {
	case FalseSize:
		p.convict(kind, detail)
	case ForgedEcho:
		if p.forged++; p.forged >= a.cfg.ForgedEchoes {
			p.convict(kind, detail)
		}
	case NoLie:
	}
	if p.speaks() != spoke {
		p.speakUp(now, &a.cfg)
	}
	return p.verdict(Finding{})
}

// detailMax bounds what the words of a proof may take.
const detailMax = 200

func (p *peer) convict(kind LieKind, detail string) {
	if p.lie == NoLie {
		p.lie, p.detail = kind, cut(detail)
	}
}

// cut shortens a detail to whole characters of at most detailMax bytes.
func cut(s string) string {
	if len(s) <= detailMax {
		return s
	}
	end := 0
	for i := range s {
		if i > detailMax {
			break
		}
		end = i
	}
	return s[:end]
}
