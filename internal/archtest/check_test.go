package archtest

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// root is the module's directory, seen from this package.
const root = "../.."

// This module keeps the rules.
func TestModule(t *testing.T) {
	found, err := Check(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, breach := range found {
		t.Error(breach)
	}
}

// The module checked is the one the rules are for, and not an empty directory.
func TestModuleIsRead(t *testing.T) {
	text, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "module "+module+"\n") {
		t.Errorf("go.mod of %s does not begin with module %s", root, module)
	}
	for _, pkg := range []string{"cookie", "burst", "mux"} {
		if _, err := fs.Stat(os.DirFS(root), pkg+"/doc.go"); err != nil {
			t.Errorf("package %s is not where the rules look for it: %v", pkg, err)
		}
	}
}

// file makes Go source that imports the given paths.
func file(imports ...string) string {
	text := "package p\n"
	for _, path := range imports {
		text += "import _ \"" + path + "\"\n"
	}
	return text
}

func TestImports(t *testing.T) {
	ours := func(pkg string) string { return module + "/" + pkg }
	for _, tc := range []struct {
		name, file, imports string
		want                string // in the breach; "" if there is none
	}{
		{"cookie from burst", "burst/a.go", ours("cookie"), "burst may not import cookie"},
		{"mux from burst", "burst/a.go", ours("mux"), "burst may not import mux"},
		{"burst from cookie", "cookie/a.go", ours("burst"), "cookie may not import burst"},
		{"ranking from mux", "mux/a.go", ours("ranking"), "mux may not import ranking"},
		{"mux from ranking", "ranking/a.go", ours("mux"), "ranking may not import mux"},
		{"ranking from audit", "audit/a.go", ours("ranking"), "audit may not import ranking"},
		{"metrics from mux", "mux/a.go", ours("metrics"), "only cmd and internal/lab"},
		{"metrics from a test of mux", "mux/a_test.go", ours("metrics"), "only cmd and internal/lab"},
		{"metrics from another internal package", "internal/other/a.go", ours("metrics"), "only cmd and internal/lab"},
		{"lab from mux", "mux/a.go", ours("internal/lab"), "mux may not import internal/lab"},
		{"the module's root", "burst/a.go", module, "burst may not import"},
		{"third party from burst", "burst/a.go", tdigest, "burst may not import " + tdigest},
		{"metrics client from mux", "mux/a.go", prometheus + "/prometheus", "mux may not import"},
		{"test help outside tests", "mux/a.go", "pgregory.net/rapid", "mux may not import"},
		{"unknown third party in a test", "mux/a_test.go", "github.com/stretchr/testify/require", "mux may not import"},
		{"a path that only begins alike", "mux/a.go", yamux + "2", "mux may not import"},
		{"a socket from burst", "burst/a.go", "net", "burst does no I/O"},
		{"files from ranking", "ranking/a.go", "os/exec", "ranking does no I/O"},
		{"logs from metrics", "metrics/a.go", "log/slog", "metrics does no I/O"},
		{"a package nobody knows", "util/a.go", "fmt", "package util has no rule"},
		{"below a known one", "mux/deep/a.go", "fmt", "package mux/deep has no rule"},
		{"the root", "a.go", "fmt", "package . has no rule"},

		{"cookie from mux", "mux/a.go", ours("cookie"), ""},
		{"yamux from mux", "mux/a.go", yamux, ""},
		{"x/sys/unix from mux", "mux/a.go", kernel + "/unix", ""},
		{"addresses from ranking", "ranking/a.go", "net/netip", ""},
		{"net from mux", "mux/a.go", "net", ""},
		{"digest from cookie", "cookie/a.go", tdigest, ""},
		{"ciphers from cookie", "cookie/a.go", "crypto/aes", ""},
		{"lab from a test of mux", "mux/a_test.go", ours("internal/lab/bubble"), ""},
		{"mux from its external test", "mux/a_test.go", ours("mux"), ""},
		{"files from a test of burst", "burst/a_test.go", "os", ""},
		{"metrics from cmd", "cmd/demo-node/a.go", ours("metrics"), ""},
		{"metrics from the lab", "internal/lab/run/a.go", ours("metrics"), ""},
		{"metrics from its external test", "metrics/a_test.go", ours("metrics"), ""},
		{"anything from cmd", "cmd/demo-node/a.go", "github.com/alecthomas/kong", ""},
		{"another module", "bench/a.go", "github.com/xtaci/smux", ""},
		{"test data", "mux/testdata/a.go", ours("metrics"), ""},
		{"hidden", ".build/a.go", ours("metrics"), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			expect(t, fstest.MapFS{
				"bench/go.mod": {Data: []byte("module bench\n")},
				tc.file:        {Data: []byte(file(tc.imports))},
			}, tc.want)
		})
	}
}

func TestSyntax(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		want             string
	}{
		{"clock in burst", "burst/a.go", "package p\nimport \"time\"\nvar _ = time.Now()", "burst/a.go:3: burst has no clock"},
		{"renamed clock", "burst/a.go", "package p\nimport now \"time\"\nvar _ = now.Since", "has no clock"},
		{"dotted clock", "burst/a.go", "package p\nimport . \"time\"\nvar _ = Now()", "import time by a name"},
		{"wall time", "ranking/a.go", "package p\nimport \"time\"\ntype T struct{ at time.Time }", "has no clock"},
		{"timer in audit", "audit/a.go", "package p\nimport \"time\"\nvar _ = time.AfterFunc", "has no clock"},
		{"goroutine in cookie", "cookie/a.go", "package p\nfunc f() { go f() }", "cookie starts no goroutine"},
		{"goroutine in metrics", "metrics/a.go", "package p\nfunc f() { go f() }", "metrics starts no goroutine"},
		{"bare bubble", "mux/a_test.go", "package p\nimport \"testing/synctest\"\nvar _ = synctest.Test", "use bubble.Run"},
		{"bare bubble in cmd", "cmd/x/a_test.go", "package p\nimport \"testing/synctest\"\nvar _ = synctest.Test", "use bubble.Run"},

		{"durations in burst", "burst/a.go", "package p\nimport \"time\"\nvar _ time.Duration = time.Second", ""},
		{"a field called Now", "burst/a.go", "package p\nimport \"time\"\nvar _ time.Duration\nvar x struct{ Now int }\nvar _ = x.Now", ""},
		{"clock in mux", "mux/a.go", "package p\nimport \"time\"\nvar _ = time.Now()", ""},
		{"clock in a test", "burst/a_test.go", "package p\nimport \"time\"\nvar _ = time.Now()", ""},
		{"waiting in a bubble", "mux/a_test.go", "package p\nimport \"testing/synctest\"\nvar _ = synctest.Wait", ""},
		{"bubble in the lab", "internal/lab/a_test.go", "package p\nimport \"testing/synctest\"\nvar _ = synctest.Test", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			expect(t, fstest.MapFS{tc.file: {Data: []byte(tc.text)}}, tc.want)
		})
	}
}

// expect checks that tree has exactly one breach, with want in it, or none if
// want is "".
func expect(t *testing.T, tree fs.FS, want string) {
	t.Helper()
	found, err := Check(tree)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("found %q, want nothing", found)
	case want != "" && (len(found) != 1 || !strings.Contains(found[0], want)):
		t.Errorf("found %q, want one with %q", found, want)
	}
}

func TestCheckReportsUnreadableSource(t *testing.T) {
	_, err := Check(fstest.MapFS{"mux/a.go": {Data: []byte("package")}})
	if err == nil || !strings.Contains(err.Error(), "mux/a.go") {
		t.Errorf("error %v, want one that names the file", err)
	}
}

func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		path, root string
		want       bool
	}{
		{"cmd", "cmd", true},
		{"cmd/demo-node", "cmd", true},
		{"cmdline", "cmd", false},
		{"internal/cmd", "cmd", false},
	} {
		if got := within(tc.path, tc.root); got != tc.want {
			t.Errorf("within(%q, %q) = %v", tc.path, tc.root, got)
		}
	}
}
