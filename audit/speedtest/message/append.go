package message

import "encoding/binary"

func (Announce) kind() Kind { return KindAnnounce }
func (Noted) kind() Kind    { return KindNoted }
func (Propose) kind() Kind  { return KindPropose }
func (Grant) kind() Kind    { return KindGrant }
func (Refusal) kind() Kind  { return KindRefusal }
func (Attach) kind() Kind   { return KindAttach }
func (Attached) kind() Kind { return KindAttached }
func (Start) kind() Kind    { return KindStart }
func (Stop) kind() Kind     { return KindStop }
func (Done) kind() Kind     { return KindDone }
func (Ping) kind() Kind     { return KindPing }
func (Pong) kind() Kind     { return KindPong }
func (Receipt) kind() Kind  { return KindReceipt }

func (m Announce) append(b []byte) []byte { return appendSpan(b, m.In) }
func (Noted) append(b []byte) []byte      { return b }
func (Attached) append(b []byte) []byte   { return b }
func (Stop) append(b []byte) []byte       { return b }

func (m Propose) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(append(b, m.Runs), m.Streams)
	b = appendCount(appendSpan(b, m.Length), m.Bytes)
	return appendCount(appendCount(b, m.Rate), m.Limit)
}

func (f *fields) proposal() Propose {
	return Propose{
		Runs: f.byte(), Streams: f.u16(), Length: f.span(), Bytes: f.count(), Rate: f.count(), Limit: f.count(),
	}
}

func (m Grant) append(b []byte) []byte {
	b = append(append(b, m.Token[:]...), m.Runs)
	b = binary.BigEndian.AppendUint16(b, m.Streams)
	return appendCount(appendCount(appendSpan(b, m.Length), m.Bytes), m.Rate)
}

func (f *fields) grant() Grant {
	return Grant{
		Token: f.token(), Runs: f.byte(), Streams: f.u16(), Length: f.span(), Bytes: f.count(), Rate: f.count(),
	}
}

func (m Refusal) append(b []byte) []byte {
	b = appendSpan(append(b, m.Code), m.RetryAfter)
	return append(b, m.Text[:min(len(m.Text), maxText)]...)
}

func (m Attach) append(b []byte) []byte {
	b = append(append(b, m.Token[:]...), m.Run)
	return append(binary.BigEndian.AppendUint16(b, m.Index), byte(m.Side))
}

func (f *fields) attach() Attach {
	a := Attach{Token: f.token(), Run: f.byte(), Index: f.u16(), Side: Side(f.byte())}
	f.bad = f.bad || a.Side >= sides
	return a
}

func (m Start) append(b []byte) []byte { return append(append(b, m.Run, byte(m.Way)), m.Key[:]...) }
func (m Done) append(b []byte) []byte  { return appendCount(append(b, m.Reason), m.Bytes) }
func (m Ping) append(b []byte) []byte  { return binary.BigEndian.AppendUint64(b, m.Value) }
func (m Pong) append(b []byte) []byte  { return binary.BigEndian.AppendUint64(b, m.Value) }
func (m Receipt) append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(appendCount(b, m.Bytes), m.Sum)
}
