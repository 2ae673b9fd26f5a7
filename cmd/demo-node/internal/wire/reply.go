package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// AppendOffers appends a list of files; those beyond MaxOffers are left out.
func AppendOffers(b []byte, offers []Offer) []byte {
	offers = offers[:min(len(offers), MaxOffers)]
	b = appendHead(b, KindOffers, len(offers)*offerSize)
	for _, o := range offers {
		b = append(b, o.Hash[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(max(o.Size, 0)))
	}
	return b
}

// AppendData appends the announcement of so many bytes.
func AppendData(b []byte, size int64) []byte {
	return binary.BigEndian.AppendUint64(appendHead(b, KindData, 8), uint64(max(size, 0)))
}

// ReadOffers reads the reply to a list. A refusal is returned as an error, a
// *Refusal; see ReadRequest for the others.
func ReadOffers(r io.Reader) ([]Offer, error) {
	p, err := readReply(r, KindOffers)
	if err != nil {
		return nil, err
	}
	if len(p)%offerSize != 0 {
		return nil, fmt.Errorf("%w: offers of %d bytes, each has %d", ErrMalformed, len(p), offerSize)
	}
	offers := make([]Offer, 0, len(p)/offerSize)
	for ; len(p) > 0; p = p[offerSize:] {
		n, err := size(p[HashSize:offerSize])
		if err != nil {
			return nil, err
		}
		offers = append(offers, Offer{Hash: Hash(p[:HashSize]), Size: n})
	}
	return offers, nil
}

// ReadData reads the head of the reply to a get: how many bytes follow. A
// refusal is returned as an error, a *Refusal; see ReadRequest for the others.
func ReadData(r io.Reader) (int64, error) {
	p, err := readReply(r, KindData)
	if err != nil {
		return 0, err
	}
	if len(p) != 8 {
		return 0, fmt.Errorf("%w: data with a head of %d bytes, it has 8", ErrMalformed, len(p))
	}
	return size(p)
}

// readReply reads a reply of one kind, or a refusal.
func readReply(r io.Reader, want Kind) ([]byte, error) {
	k, p, err := read(r, want, KindRefusal)
	switch {
	case err != nil:
		return nil, err
	case k == want:
		return p, nil
	case len(p) == 0:
		return nil, fmt.Errorf("%w: a refusal without a code", ErrMalformed)
	}
	return nil, &Refusal{Code: Code(p[0]), Text: string(p[1:])}
}
