package message

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/passive"
)

// draw makes any message.
func draw(t *rapid.T) Message {
	count := rapid.Int64Range(0, math.MaxInt64)
	span := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, maxMillis).Draw(t, "ms")) * time.Millisecond
	})
	token := Token(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "token"))
	switch Kind(rapid.IntRange(1, int(kinds)-1).Draw(t, "kind")) {
	case KindDescribe:
		n := func() int64 { return count.Draw(t, "n") }
		return Descriptor{
			Figures: passive.Figures{Advertised: n(), Observed: n(), ObservedWithoutTests: n(), Read: n(), Written: n(), Limit: n()},
			Policy: Policy{
				Willing: rapid.Bool().Draw(t, "willing"), OptedOut: rapid.Bool().Draw(t, "out"),
				MaxBytes: n(), MaxLength: span.Draw(t, "length"), MaxRate: n(), Streams: n(),
				Interval: span.Draw(t, "interval"), Notice: span.Draw(t, "notice"),
			},
		}
	case KindAnnounce:
		return Announce{span.Draw(t, "in")}
	case KindNoted:
		return Noted{}
	case KindPropose:
		return Propose{rapid.Byte().Draw(t, "runs"), rapid.Uint16().Draw(t, "streams"), span.Draw(t, "length"),
			count.Draw(t, "bytes"), count.Draw(t, "rate"), count.Draw(t, "limit")}
	case KindGrant:
		return Grant{token, rapid.Byte().Draw(t, "runs"), rapid.Uint16().Draw(t, "streams"), span.Draw(t, "length"),
			count.Draw(t, "bytes"), count.Draw(t, "rate")}
	case KindRefusal:
		return Refusal{rapid.Byte().Draw(t, "code"), span.Draw(t, "after"), rapid.StringN(0, -1, maxText).Draw(t, "text")}
	case KindAttach:
		return Attach{token, rapid.Byte().Draw(t, "run"), rapid.Uint16().Draw(t, "index"), Side(rapid.IntRange(0, 1).Draw(t, "side"))}
	case KindStart:
		return Start{rapid.Byte().Draw(t, "run"), Way(rapid.IntRange(0, int(ways)-1).Draw(t, "way")), keystream.Key(token)}
	case KindDone:
		return Done{rapid.Byte().Draw(t, "reason"), count.Draw(t, "bytes")}
	case KindPing:
		return Ping{rapid.Uint64().Draw(t, "value")}
	case KindPong:
		return Pong{rapid.Uint64().Draw(t, "value")}
	case KindReceipt:
		return Receipt{count.Draw(t, "bytes"), rapid.Uint64().Draw(t, "sum")}
	case KindStop:
		return Stop{}
	default:
		return Attached{}
	}
}

// TestMessagesSurvive: what is written is what is read, in any chunking, and
// nothing beyond it is taken.
func TestMessagesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		r := bytes.NewReader(append(Append(nil, m), "rest"...))
		got, err := Read(iotest.OneByteReader(r))
		if err != nil || got != m {
			t.Fatalf("%+v became %+v, %v", m, got, err)
		}
		if rest, _ := io.ReadAll(r); string(rest) != "rest" {
			t.Fatalf("%q is left", rest)
		}
	})
}

func TestBadMessages(t *testing.T) {
	edit := func(m Message, at int, b ...byte) []byte {
		p := Append(nil, m)
		copy(p[at:], b)
		return p
	}
	huge := bytes.Repeat([]byte{0xff}, 8)
	for name, tt := range map[string]struct {
		sent []byte
		want error
	}{
		"nothing":                {nil, io.EOF},
		"half a head":            {[]byte{1, 9}, io.ErrUnexpectedEOF},
		"half a payload":         {Append(nil, Ping{})[:7], io.ErrUnexpectedEOF},
		"no payload":             {Append(nil, Ping{})[:4], io.ErrUnexpectedEOF},
		"another version":        {edit(Ping{}, 0, 2), ErrVersion},
		"kind 0":                 {edit(Ping{}, 1, 0), ErrMalformed},
		"unknown kind":           {edit(Ping{}, 1, byte(kinds)), ErrMalformed},
		"64 KiB":                 {edit(Ping{}, 2, 0xff, 0xff), ErrMalformed},
		"too short":              {edit(Ping{}, 3, 7), ErrMalformed},
		"refusal without a time": {edit(Refusal{}, 3, 8), ErrMalformed},
		"2^64-1 bytes":           {edit(Propose{}, 4+11, huge...), ErrMalformed},
		"a rate of 2^64-1":       {edit(Propose{}, 4+19, huge...), ErrMalformed},
		"for ever":               {edit(Propose{}, 4+3, huge...), ErrMalformed},
		"a figure of 2^64-1":     {edit(Descriptor{}, 4, huge...), ErrMalformed},
		"a flag of 2":            {edit(Descriptor{}, 4+48, 2), ErrMalformed},
		"no such way":            {edit(Start{}, 5, byte(ways)), ErrMalformed},
		"no such side":           {edit(Attach{}, 4+19, 2), ErrMalformed},
	} {
		if m, err := Read(bytes.NewReader(tt.sent)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v; want %v", name, m, err, tt.want)
		}
	}
}

func TestExpect(t *testing.T) {
	stream := func(m Message) io.Reader { return bytes.NewReader(Append(nil, m)) }
	if g, err := Expect[Grant](stream(Grant{Runs: 3})); err != nil || g.Runs != 3 {
		t.Errorf("%+v, %v", g, err)
	}
	_, err := Expect[Grant](stream(Refusal{Code: 4, RetryAfter: time.Hour, Text: "not\nnow"}))
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Code != 4 || r.RetryAfter != time.Hour || strings.Contains(err.Error(), "\n") {
		t.Errorf("refused: %v", err)
	}
	if _, err := Expect[Grant](stream(Stop{})); !errors.Is(err, ErrMalformed) {
		t.Errorf("another kind: %v", err)
	}
	if _, err := Expect[Grant](bytes.NewReader(nil)); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: %v", err)
	}
}

func TestWhatCannotBeSentIsCut(t *testing.T) {
	for m, want := range map[Message]Message{
		Refusal{Text: strings.Repeat("x", 500)}:  Refusal{Text: strings.Repeat("x", maxText)},
		Propose{Bytes: -5, Length: -time.Second}: Propose{},
		Announce{In: 100 * 365 * 24 * time.Hour}: Announce{In: maxMillis * time.Millisecond},
		Announce{In: time.Nanosecond}:            Announce{In: time.Millisecond}, // rounded up
	} {
		if got, err := Read(bytes.NewReader(Append(nil, m))); err != nil || got != want {
			t.Errorf("%+v became %+v, %v; want %+v", m, got, err, want)
		}
	}
}

func TestTokensAreNotLogged(t *testing.T) {
	full := Token{15: 0xfe}
	if s := full.String(); strings.Contains(s, "fe") || len(s) != 16 {
		t.Errorf("%q", s)
	}
}

// FuzzRead: no bytes do worse than an error, and what is accepted is written back
// as it came.
func FuzzRead(f *testing.F) {
	for _, m := range []Message{Descriptor{}, Announce{}, Noted{}, Propose{}, Grant{}, Refusal{Text: "no"}, Attach{}, Attached{},
		Start{}, Stop{}, Done{}, Ping{1}, Pong{2}, Receipt{}} {
		f.Add(Append(nil, m))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Read(bytes.NewReader(in))
		if err == nil && !bytes.HasPrefix(in, Append(nil, m)) {
			t.Errorf("%x was read as %+v and written back as %x", in, m, Append(nil, m))
		}
	})
}
