package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// source is one file.
type source struct {
	pkg    string // its directory, relative to the module
	test   bool   // named _test.go
	files  *token.FileSet
	syntax *ast.File
	found  []string
}

// report notes a breach at pos.
func (s *source) report(pos token.Pos, format string, args ...any) {
	at := s.files.Position(pos)
	s.found = append(s.found, fmt.Sprintf("%s:%d: ", at.Filename, at.Line)+fmt.Sprintf(format, args...))
}

// check returns the breaches in the file.
func (s *source) check() []string {
	r, ruled := rules[s.pkg]
	if !ruled && !within(s.pkg, "cmd") && !within(s.pkg, "internal") {
		s.report(s.syntax.Package, "package %s has no rule: say in internal/archtest what it may import", s.pkg)
		return s.found
	}
	for _, spec := range s.syntax.Imports {
		s.checkImport(spec, r, ruled)
	}
	s.checkBubbles()
	if ruled && !r.live && !s.test {
		s.checkStill()
	}
	return s.found
}

// checkImport checks one import against the rule of the package, if it has one.
func (s *source) checkImport(spec *ast.ImportSpec, r rule, ruled bool) {
	target, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	if within(target, module) {
		s.checkOurs(spec, strings.TrimPrefix(strings.TrimPrefix(target, module), "/"), r, ruled)
		return
	}
	if !ruled {
		return
	}
	first, _, _ := strings.Cut(target, "/")
	switch {
	case !strings.Contains(first, "."): // the standard library
		if !r.live && !s.test && doesIO(target) {
			s.report(spec.Pos(), "%s does no I/O: it may not import %s", s.pkg, target)
		}
	case withinAny(target, r.modules), s.test && withinAny(target, forTests.modules):
	default:
		s.report(spec.Pos(), "%s may not import %s: its users would get it too", s.pkg, target)
	}
}

// doesIO says whether a package of the standard library reaches outside the
// process. net/netip only has addresses as values.
func doesIO(target string) bool {
	return withinAny(target, []string{"net", "os", "syscall", "log"}) && target != "net/netip"
}

// checkOurs checks an import of the package target of this module.
func (s *source) checkOurs(spec *ast.ImportSpec, target string, r rule, ruled bool) {
	own := target == s.pkg // an external test's
	switch {
	case own:
	case target == "metrics" && !withinAny(s.pkg, wiring):
		s.report(spec.Pos(), "%s may not import metrics: only cmd and internal/lab do", s.pkg)
	case !ruled, slices.Contains(r.ours, target), s.test && slices.Contains(forTests.ours, target):
	default:
		s.report(spec.Pos(), "%s may not import %s: imports point one way", s.pkg, target)
	}
}

// checkBubbles finds virtual-time tests that would take timers of another's
// bubble out of yamux's pool. internal/lab may: it tests links without yamux.
func (s *source) checkBubbles() {
	if within(s.pkg, "internal/lab") {
		return
	}
	s.eachUse("testing/synctest", func(use *ast.SelectorExpr) {
		if use.Sel.Name == "Test" {
			s.report(use.Pos(), "use bubble.Run in place of synctest.Test, for yamux's timer pool outlives a bubble")
		}
	})
}

// clocks are what package time has that reads a clock, waits for one, or is an
// instant on the wall.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Time"}

// checkStill finds clocks and goroutines.
func (s *source) checkStill() {
	s.eachUse("time", func(use *ast.SelectorExpr) {
		if slices.Contains(clocks, use.Sel.Name) {
			s.report(use.Pos(), "%s has no clock: take the instant as an argument in place of time.%s", s.pkg, use.Sel.Name)
		}
	})
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if statement, ok := n.(*ast.GoStmt); ok {
			s.report(statement.Pos(), "%s starts no goroutine", s.pkg)
		}
		return true
	})
}

// eachUse calls f with each use of something of the standard library's package
// target, under whatever name the file imports it.
func (s *source) eachUse(target string, f func(*ast.SelectorExpr)) {
	name := s.localName(target)
	if name == "" {
		return
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if use, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := use.X.(*ast.Ident); ok && x.Name == name {
				f(use)
			}
		}
		return true
	})
}

// localName is the name that the file has for the package target, "" if it
// does not import it. A dot import has none: it is reported.
func (s *source) localName(target string) string {
	for _, spec := range s.syntax.Imports {
		if imported, _ := strconv.Unquote(spec.Path.Value); imported != target {
			continue
		}
		if spec.Name == nil {
			return target[strings.LastIndexByte(target, '/')+1:]
		}
		if spec.Name.Name == "." {
			s.report(spec.Pos(), "import %s by a name", target)
			return ""
		}
		return spec.Name.Name
	}
	return ""
}
