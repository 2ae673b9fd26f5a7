package message

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/keystream"
	"github.com/assay-mux/assay/audit/speedtest/passive"
)

// sixteen are bytes that show where they stand.
const sixteen = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"

func numbered() (b [16]byte) {
	for i := range b {
		b[i] = 0xa0 + byte(i)
	}
	return b
}

// TestWire pins the bytes of each kind, in the order of the fields: a node of
// another build reads them, and a round trip alone would not notice two fields
// that changed places in both directions.
func TestWire(t *testing.T) {
	for want, m := range map[string]Message{
		"01 01 0062 " +
			"0000000000000001 0000000000000002 0000000000000003 0000000000000004 0000000000000005 0000000000000006 " +
			"01 00 0000000000000007 0000000000001f40 0000000000000009 000000000000000a 0000000000002af8 0000000000002ee0": Descriptor{
			Figures: passive.Figures{Advertised: 1, Observed: 2, ObservedWithoutTests: 3, Read: 4, Written: 5, Limit: 6},
			Policy: Policy{
				Willing: true, MaxBytes: 7, MaxLength: 8 * time.Second, MaxRate: 9, Streams: 10,
				Interval: 11 * time.Second, Notice: 12 * time.Second,
			},
		},
		"01 02 0008 00000000000003e8":         Announce{time.Second},
		"01 03 0000":                          Noted{},
		"01 06 000b 03 00000000000007d0 6e6f": Refusal{Code: 3, RetryAfter: 2 * time.Second, Text: "no"},
		"01 04 0023 02 0040 0000000000004e20 0000000000000003 0000000000000004 0000000000000005": Propose{
			Runs: 2, Streams: 64, Length: 20 * time.Second, Bytes: 3, Rate: 4, Limit: 5,
		},
		"01 05 002b " + sixteen + " 04 0100 0000000000007530 0000000000000006 0000000000000007": Grant{
			Token: numbered(), Runs: 4, Streams: 256, Length: 30 * time.Second, Bytes: 6, Rate: 7,
		},
		"01 07 0014 " + sixteen + " 02 0103 01":        Attach{Token: numbered(), Run: 2, Index: 259, Side: Far},
		"01 08 0000":                                   Attached{},
		"01 09 0012 01 03 " + sixteen:                  Start{Run: 1, Way: ThroughOut, Key: keystream.Key(numbered())},
		"01 0a 0000":                                   Stop{},
		"01 0b 0009 05 0000000000000102":               Done{Reason: 5, Bytes: 258},
		"01 0c 0008 8000000000000001":                  Ping{1<<63 + 1},
		"01 0d 0008 8000000000000002":                  Pong{1<<63 + 2},
		"01 0e 0010 0000000000000400 fedcba9876543210": Receipt{Bytes: 1024, Sum: 0xfedcba9876543210},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := Append(nil, m); !bytes.Equal(got, b) {
			t.Errorf("%T is written\n%x, want\n%x", m, got, b)
		}
		if got, err := Read(bytes.NewReader(b)); err != nil || got != m {
			t.Errorf("%T is read as %+v, %v", m, got, err)
		}
	}
}

// TestOptedOutStandsApart: the flag that must never be taken for the other.
func TestOptedOutStandsApart(t *testing.T) {
	b := Append(nil, Descriptor{Policy: Policy{OptedOut: true}})
	if flags := b[headSize+6*8:][:2]; flags[0] != 0 || flags[1] != 1 {
		t.Errorf("flags %x", flags)
	}
}

// TestWriteIsOneCall: a message that is written in pieces would take as many frames.
func TestWriteIsOneCall(t *testing.T) {
	for _, m := range []Message{Descriptor{}, Refusal{Text: strings.Repeat("x", maxText)}, Stop{}} {
		var w calls
		if err := Write(&w, m); err != nil || len(w) != 1 || w[0] > MaxSize {
			t.Errorf("%T: %v, calls of %v bytes, at most %d", m, err, w, MaxSize)
		}
	}
}

// calls notes the size of each write.
type calls []int

func (c *calls) Write(p []byte) (int, error) {
	*c = append(*c, len(p))
	return len(p), nil
}

// TestLabels: metrics and files have them, so they stay.
func TestLabels(t *testing.T) {
	for way, want := range map[Way]string{
		FromTarget: "from_target", ToTarget: "to_target", ThroughIn: "through_in", ThroughOut: "through_out", ways: "unknown", 255: "unknown",
	} {
		if got := way.String(); got != want {
			t.Errorf("%d: %q, want %q", way, got, want)
		}
		if got := way.Through(); got != strings.HasPrefix(want, "through") {
			t.Errorf("%v: through %v", way, got)
		}
	}
}
