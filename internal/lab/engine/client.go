package engine

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// takePushes reads what the peer sends unasked, and checks it.
func (c *connection) takePushes() {
	for {
		st, err := c.client.AcceptStream()
		if err != nil {
			return
		}
		c.a.w.wg.Go(func() { c.takePush(st) })
	}
}

func (c *connection) takePush(st *yamux.Stream) {
	defer st.Close()
	var head [5]byte
	if _, err := io.ReadFull(st, head[:]); err != nil || head[0] != streamPush {
		return
	}
	if c.a.spec.Push.Unread {
		<-c.done
		return
	}
	n := int(binary.BigEndian.Uint32(head[1:]))
	buf := make([]byte, chunk)
	for got := int64(0); ; {
		k, err := st.Read(buf)
		if !c.a.w.content.right(n, got, buf[:k]) {
			c.a.w.log.violate(c.a.id, "push %d is not what was sent, from %d on", n, got)
			return
		}
		if got += int64(k); err != nil {
			return
		}
	}
}

// side asks the peer's other protocol, so often as the file says.
func (c *connection) side() {
	st, err := c.client.OpenStream()
	if err != nil {
		return
	}
	defer st.Close()
	if _, err := st.Write([]byte{streamSide}); err != nil {
		return
	}
	buf := make([]byte, c.a.spec.Side.Reply)
	for pause(time.Duration(c.a.spec.Side.Every), c.done) {
		if _, err := st.Write([]byte{1}); err != nil {
			return
		}
		if _, err := io.ReadFull(st, buf); err != nil {
			return
		}
	}
}
