package mux_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	// The one line that a program changes.
	bare "github.com/hashicorp/yamux"

	yamux "github.com/assay-mux/assay/mux"
)

// All that github.com/hashicorp/yamux exports is used here through our import
// alone, with its own types where a program would name them. That this
// compiles is the test.
var (
	_ func(*yamux.Config) error = yamux.VerifyConfig
	_ func() *yamux.Config      = yamux.DefaultConfig

	_ = []error{
		yamux.ErrInvalidVersion, yamux.ErrInvalidMsgType, yamux.ErrSessionShutdown,
		yamux.ErrStreamsExhausted, yamux.ErrDuplicateStream, yamux.ErrRecvWindowExceeded,
		yamux.ErrTimeout, yamux.ErrStreamClosed, yamux.ErrUnexpectedFlag,
		yamux.ErrRemoteGoAway, yamux.ErrConnectionReset, yamux.ErrConnectionWriteTimeout,
		yamux.ErrKeepAliveTimeout,
	}

	_ net.Error    = (*yamux.NetError)(nil)
	_ net.Listener = (*yamux.Session)(nil)
	_ net.Conn     = (*yamux.Stream)(nil)
	_ yamux.Logger = printer{}
)

type printer struct{}

func (printer) Print(...any)          {}
func (printer) Printf(string, ...any) {}
func (printer) Println(...any)        {}

// program is what someone's code may do with a session and its streams.
func program(conn io.ReadWriteCloser, client bool) error {
	cfg := &yamux.Config{
		AcceptBacklog: 256, EnableKeepAlive: true, KeepAliveInterval: 30 * time.Second,
		ConnectionWriteTimeout: 10 * time.Second, MaxStreamWindowSize: 256 << 10,
		StreamOpenTimeout: time.Minute, StreamCloseTimeout: time.Minute,
		LogOutput: io.Discard, Logger: nil,
	}
	var session *yamux.Session
	var err error
	if client {
		session, err = yamux.Client(conn, cfg.Clone())
	} else {
		session, err = yamux.Server(conn, cfg)
	}
	if err != nil {
		return err
	}
	defer session.Close()
	var _ <-chan struct{} = session.CloseChan()
	var _, _, _ net.Addr = session.Addr(), session.LocalAddr(), session.RemoteAddr()
	var _ bool = session.IsClosed()
	var _ int = session.NumStreams()
	if client {
		return ask(session)
	}
	return answer(session)
}

func ask(session *yamux.Session) error {
	if _, err := session.Ping(); err != nil {
		return err
	}
	conn, err := session.Open()
	if err != nil {
		return err
	}
	for range 2 {
		var stream *yamux.Stream
		if stream, err = session.OpenStream(); err != nil {
			return err
		}
		_ = stream.StreamID()
		_ = stream.Session().NumStreams()
		if err := stream.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			return err
		}
		if _, err := stream.Write([]byte("x")); err != nil {
			return err
		}
		stream.Close()
		stream.Shrink()
	}
	if _, err := conn.Write([]byte("x")); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1)) // until the server is done with all
	conn.Close()
	return err
}

func answer(session *yamux.Session) error {
	first, err := session.Accept()
	if err != nil {
		return err
	}
	second, err := session.AcceptStream()
	if err != nil {
		return err
	}
	third, err := session.AcceptStreamWithContext(context.Background())
	if err != nil {
		return err
	}
	for _, c := range []net.Conn{first, second, third} {
		if _, err := c.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	if err := session.GoAway(); err != nil {
		return err
	}
	_, _ = first.Write([]byte("y")) // the client closes on reading it, perhaps before we know
	<-session.CloseChan()
	return nil
}

func TestAProgramRunsUnchanged(t *testing.T) {
	a, b := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- program(b, false) }()
	if err := program(a, true); err != nil {
		t.Errorf("client: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("server: %v", err)
	}
}

func TestNamesAreYamuxsOwn(t *testing.T) {
	for name, same := range map[string]bool{
		"ErrTimeout":         errors.Is(yamux.ErrTimeout, bare.ErrTimeout),
		"ErrSessionShutdown": errors.Is(yamux.ErrSessionShutdown, bare.ErrSessionShutdown),
		"ErrConnectionReset": errors.Is(yamux.ErrConnectionReset, bare.ErrConnectionReset),
		"ErrStreamClosed":    errors.Is(yamux.ErrStreamClosed, bare.ErrStreamClosed),
	} {
		if !same {
			t.Errorf("%s is another value than yamux's", name)
		}
	}
	var _ *bare.Stream = (*yamux.Stream)(nil)
	var _ *bare.Config = yamux.DefaultConfig()
	if got, want := *yamux.DefaultConfig(), *bare.DefaultConfig(); got != want {
		t.Errorf("default configuration %+v, want %+v", got, want)
	}
}
