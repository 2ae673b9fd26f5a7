package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var hash = Hash{1, 2, 31: 0xff}

// TestRequestsSurvive: what is appended is what is read, in any chunking, and
// nothing beyond it is taken.
func TestRequestsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Request{Kind: KindList}
		sent := AppendList([]byte{})
		if rapid.Bool().Draw(t, "get") {
			want = Request{Kind: KindGet, Get: Get{Hash: hash, Offset: rapid.Int64Min(0).Draw(t, "offset")}}
			sent = AppendGet(nil, want.Get)
		}
		if rapid.Bool().Draw(t, "speedtest") {
			want, sent = Request{Kind: KindSpeedtest}, AppendSpeedtest(nil)
		}
		r := bytes.NewReader(append(sent, "rest"...))
		got, err := ReadRequest(iotest.OneByteReader(r))
		if err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
		if rest, _ := io.ReadAll(r); string(rest) != "rest" {
			t.Fatalf("%q is left, want the rest", rest)
		}
	})
}

func TestRepliesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offers := make([]Offer, rapid.IntRange(0, 50).Draw(t, "offers"))
		for i := range offers {
			offers[i] = Offer{Hash: Hash{byte(i)}, Size: rapid.Int64Min(0).Draw(t, "size")}
		}
		got, err := ReadOffers(bytes.NewReader(AppendOffers(nil, offers)))
		if err != nil || !cmp.Equal(got, offers) {
			t.Fatalf("offers: %v, %v", cmp.Diff(offers, got), err)
		}
		size := rapid.Int64Min(0).Draw(t, "data")
		if n, err := ReadData(bytes.NewReader(AppendData(nil, size))); n != size || err != nil {
			t.Fatalf("data: %d, %v; want %d", n, err, size)
		}
	})
}

func TestNegativeSizesBecomeZero(t *testing.T) {
	r, err := ReadRequest(bytes.NewReader(AppendGet(nil, Get{Offset: -5})))
	if r.Get.Offset != 0 || err != nil {
		t.Errorf("offset %d, %v; want 0", r.Get.Offset, err)
	}
	if n, err := ReadData(bytes.NewReader(AppendData(nil, -5))); n != 0 || err != nil {
		t.Errorf("size %d, %v; want 0", n, err)
	}
}

func TestTooManyOffersAreCut(t *testing.T) {
	got, err := ReadOffers(bytes.NewReader(AppendOffers(nil, make([]Offer, MaxOffers+1))))
	if len(got) != MaxOffers || err != nil {
		t.Errorf("%d offers, %v; want %d", len(got), err, MaxOffers)
	}
}

func TestRefusals(t *testing.T) {
	for code, want := range map[Code]error{
		CodeNotFound: ErrNotFound, CodeBadRequest: ErrBadRequest, CodeBusy: ErrBusy, CodeFailed: ErrFailed, 99: ErrFailed,
	} {
		sent := AppendRefusal(nil, Refusal{Code: code, Text: strings.Repeat("\n", 300)})
		_, err := ReadData(bytes.NewReader(sent))
		var r *Refusal
		if !errors.Is(err, want) || !errors.As(err, &r) || r.Code != code || len(r.Text) != maxText {
			t.Errorf("code %d: %v, want %v with a text cut to %d", code, err, want, maxText)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("code %d: the peer's text is not quoted: %v", code, err)
		}
	}
	if err := (&Refusal{Code: CodeBusy}).Error(); err != ErrBusy.Error() {
		t.Errorf("without a text: %q", err)
	}
}

// message is one with any head.
func message(size uint32, version, kind byte, payload ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, size)
	return append(append(b, version, kind), payload...)
}

func TestBadMessages(t *testing.T) {
	request := func(r io.Reader) error { _, err := ReadRequest(r); return err }
	offers := func(r io.Reader) error { _, err := ReadOffers(r); return err }
	data := func(r io.Reader) error { _, err := ReadData(r); return err }
	huge := bytes.Repeat([]byte{0xff}, offerSize)
	tests := []struct {
		name string
		read func(io.Reader) error
		sent []byte
		want error
	}{
		{"nothing", request, nil, io.EOF},
		{"half a head", request, message(2, 1, 1)[:3], io.ErrUnexpectedEOF},
		{"half a payload", request, AppendGet(nil, Get{})[:20], io.ErrUnexpectedEOF},
		{"no payload", request, AppendGet(nil, Get{})[:6], io.ErrUnexpectedEOF},
		{"another version", request, message(2, 2, 1), ErrVersion},
		{"TLS", request, []byte{22, 3, 1, 0, 200, 1, 0}, ErrVersion},
		{"HTTP", request, []byte("GET / HTTP/1.1\r\n"), ErrVersion},
		{"a reply for a request", request, AppendData(nil, 1), ErrMalformed},
		{"a request for a reply", data, AppendList(nil), ErrMalformed},
		{"unknown kind", request, message(2, 1, 77), ErrMalformed},
		{"no length", request, message(0, 1, 1), ErrMalformed},
		{"list with a payload", request, message(3, 1, byte(KindList), 0), ErrTooLong},
		{"4 GiB", request, message(math.MaxUint32, 1, byte(KindGet)), ErrTooLong},
		{"4 GiB of offers", offers, message(math.MaxUint32, 1, byte(KindOffers)), ErrTooLong},
		{"short get", request, message(3, 1, byte(KindGet), 0), ErrMalformed},
		{"offset beyond int64", request, message(42, 1, byte(KindGet), huge...), ErrMalformed},
		{"half an offer", offers, message(3, 1, byte(KindOffers), 0), ErrMalformed},
		{"size beyond int64", offers, message(42, 1, byte(KindOffers), huge...), ErrMalformed},
		{"short data", data, message(3, 1, byte(KindData), 0), ErrMalformed},
		{"data beyond int64", data, message(10, 1, byte(KindData), huge[:8]...), ErrMalformed},
		{"refusal without a code", data, message(2, 1, byte(KindRefusal)), ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.read(bytes.NewReader(tt.sent)); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestLengthIsCheckedBeforeMemory: a length alone must not cost memory.
func TestLengthIsCheckedBeforeMemory(t *testing.T) {
	sent := message(math.MaxUint32, 1, byte(KindOffers))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := ReadOffers(bytes.NewReader(sent)); err == nil {
			t.Fatal("accepted")
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes allocated for 100 refused lengths", got)
	}
}

func TestHash(t *testing.T) {
	text := "0102" + strings.Repeat("00", 29) + "ff"
	if hash.String() != text || hash.Short() != text[:12] {
		t.Errorf("%s, %s", hash, hash.Short())
	}
	var got Hash
	if err := got.UnmarshalText([]byte(strings.ToUpper(text))); err != nil || got != hash {
		t.Errorf("read %v, %v", got, err)
	}
	if out, err := got.MarshalText(); string(out) != text || err != nil {
		t.Errorf("marshalled %s, %v", out, err)
	}
	for _, bad := range []string{"", "01", text + "0", text + "00", "zz" + text[2:]} {
		if err := got.UnmarshalText([]byte(bad)); !errors.Is(err, ErrHash) {
			t.Errorf("%q: %v, want ErrHash", bad, err)
		}
	}
}

// FuzzMessages: no bytes do worse than an error, and what is accepted is written
// back as it came.
func FuzzMessages(f *testing.F) {
	f.Add(AppendList(nil))
	f.Add(AppendGet(nil, Get{Hash: hash, Offset: 7}))
	f.Add(AppendOffers(nil, []Offer{{hash, 1}, {Hash{}, 2}}))
	f.Add(AppendData(nil, 12e6))
	f.Add(AppendRefusal(nil, Refusal{CodeNotFound, "no such file"}))
	f.Add(message(math.MaxUint32, 1, 3))
	f.Fuzz(func(t *testing.T, in []byte) {
		same := func(what string, again []byte) {
			if !bytes.HasPrefix(in, again) {
				t.Errorf("%s: %x was written back as %x", what, in, again)
			}
		}
		if r, err := ReadRequest(bytes.NewReader(in)); err == nil && r.Kind == KindGet {
			same("get", AppendGet(nil, r.Get))
		}
		if o, err := ReadOffers(bytes.NewReader(in)); err == nil {
			same("offers", AppendOffers(nil, o))
		} else if refusal, ok := errors.AsType[*Refusal](err); ok {
			same("refusal", AppendRefusal(nil, *refusal))
		}
		if n, err := ReadData(bytes.NewReader(in)); err == nil {
			same("data", AppendData(nil, n))
		}
	})
}
