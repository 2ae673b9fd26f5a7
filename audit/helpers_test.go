package audit

import "time"

const (
	testClaim = time.Second
	testRTT   = 20 * time.Millisecond
	testSize  = 1 << 20
)

// plain is a record with nothing special but its residual.
func plain(peer, group string, residual float64) Record {
	return Record{
		Peer: peer, Group: group,
		Size: testSize, BaseRTT: testRTT, Coverage: 16 << 20,
		Claim:  testClaim,
		Actual: testClaim + time.Duration(residual*float64(testClaim)),
		TTFB:   testRTT,
		Echoes: EchoesFlowed,
	}
}
