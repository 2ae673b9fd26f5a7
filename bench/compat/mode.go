package compat

import (
	"fmt"
	"strings"
	"text/template"
)

// A Mode is a way to run the sessions under test. It is a value.
type Mode struct {
	Name string
	// Options are Go expressions of mux options, with which the conn is
	// wrapped. They mean nothing in Bare.
	Options []string
	bare    bool
}

// Bare leaves the sessions as they are: what the others are compared with.
var Bare = Mode{Name: "bare", bare: true}

// Modes returns the wrapped modes by name, the default first.
func Modes() []Mode {
	return []Mode{
		{Name: "wrapped"},
		{Name: "async", Options: []string{"mux.WithAsyncWrites()"}},
		{Name: "every", Options: []string{"mux.WithCookieInterval(0)"}},
		{Name: "nocookies", Options: []string{"mux.WithoutCookies()"}},
	}
}

// ModeNamed returns the wrapped mode of that name.
func ModeNamed(name string) (Mode, error) {
	var names []string
	for _, m := range Modes() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Mode{}, fmt.Errorf("compat: no mode %q; use one of %s", name, strings.Join(names, ", "))
}

// Whole are tests that hold only while each frame is written whole, with the
// reason. They are run with splitting off (mux.WithSDU(0)), and marked so.
func Whole() map[string]string {
	return map[string]string{
		// yamux shows a frame to readers only when all of it is there, so that on
		// a bare session a Read that asks for more than half of a 256 KiB frame
		// is full. After a split it returns what has come, as any io.Reader may:
		// in about one run of ten too little. The first byte of a large write
		// need not wait for the last because of it, and with 256 KiB writes the
		// session is half again as fast.
		"TestSession_PartialReadWindowUpdate": "it expects one Read to return most of a 256 KiB frame at once",
	}
}

// wholeEnv tells the hook to leave frames whole.
const wholeEnv = "ASSAY_COMPAT_WHOLE"

// hook is the file that goes into the package under test. Conns without
// addresses stay without: yamux asks for them by type.
var hook = template.Must(template.New("hook").Parse(`package yamux

import "io"
{{if .Bare}}
func wrapHook(c io.ReadWriteCloser) io.ReadWriteCloser { return c }

func unwrapHook(c io.ReadWriteCloser) io.ReadWriteCloser { return c }
{{else}}
import (
	"errors"
	"net"
	"os"
	"time"

	"github.com/assay-mux/assay/mux"
)

func wrapHook(c io.ReadWriteCloser) io.ReadWriteCloser {
	options := []mux.Option{ {{range .Options}}{{.}}, {{end}} }
	if os.Getenv("{{.Whole}}") != "" {
		options = append(options, mux.WithSDU(0))
	}
	if conn, ok := c.(net.Conn); ok {
		return mux.Wrap(conn, options...)
	}
	return hookNameless{mux.Wrap(hookPlain{c}, options...)}
}

func unwrapHook(c io.ReadWriteCloser) io.ReadWriteCloser {
	if n, ok := c.(hookNameless); ok {
		return n.conn.NetConn().(hookPlain).ReadWriteCloser
	}
	return c.(*mux.Conn).NetConn()
}

// hookPlain makes a net.Conn of what is none: no addresses, no deadlines.
type hookPlain struct{ io.ReadWriteCloser }

func (hookPlain) LocalAddr() net.Addr              { return nil }
func (hookPlain) RemoteAddr() net.Addr             { return nil }
func (hookPlain) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (hookPlain) SetReadDeadline(time.Time) error  { return errors.ErrUnsupported }
func (hookPlain) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

// hookNameless takes the addresses off again.
type hookNameless struct{ conn *mux.Conn }

func (n hookNameless) Read(p []byte) (int, error)  { return n.conn.Read(p) }
func (n hookNameless) Write(p []byte) (int, error) { return n.conn.Write(p) }
func (n hookNameless) Close() error                { return n.conn.Close() }
{{end}}`))

func (m Mode) source() (string, error) {
	var b strings.Builder
	err := hook.Execute(&b, struct {
		Bare    bool
		Options []string
		Whole   string
	}{m.bare, m.Options, wholeEnv})
	return b.String(), err
}
