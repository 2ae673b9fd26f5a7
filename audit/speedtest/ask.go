package speedtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
)

// Opener opens streams to a peer; a *mux.Session is one. Where a host's streams
// begin with words of its own, its Opener says them first.
type Opener interface {
	Open() (net.Conn, error)
}

// Describe exchanges descriptors: it tells the peer ours and returns the peer's,
// which is a claim.
func Describe(ctx context.Context, o Opener, ours message.Descriptor) (d message.Descriptor, err error) {
	err = ask(ctx, o, ours, func(st net.Conn) (err error) {
		d, err = message.Expect[message.Descriptor](st)
		return err
	})
	return d, err
}

// Announce tells the peer that a test will come after that time. The error is a
// *policy.Refusal if the peer has opted out.
func Announce(ctx context.Context, o Opener, in time.Duration) error {
	return ask(ctx, o, message.Announce{In: in}, func(st net.Conn) error {
		_, err := message.Expect[message.Noted](st)
		return err
	})
}

// ask opens a stream, sends a message and lets f read the answer.
func ask(ctx context.Context, o Opener, m message.Message, f func(net.Conn) error) error {
	st, err := o.Open()
	if err != nil {
		return err
	}
	defer st.Close()
	stop := context.AfterFunc(ctx, func() { _ = st.SetDeadline(time.Now()) })
	defer stop()
	_ = st.SetDeadline(time.Now().Add(patience))
	if err := message.Write(st, m); err != nil {
		return explain(ctx, err)
	}
	return explain(ctx, f(st))
}

// explain turns a refusal into one of package policy, and whatever fails because
// ctx has ended into its cause.
func explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if r, ok := errors.AsType[*message.Refusal](err); ok {
		return &policy.Refusal{Code: policy.Code(r.Code), RetryAfter: r.RetryAfter}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("speedtest: the peer did not answer as it should: %w", err)
}
