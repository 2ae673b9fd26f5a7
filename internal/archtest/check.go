package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Check reads every Go file of the module that tree holds, whatever its build
// tags, and returns where they break the rules, as lines "file:line: what is
// wrong". Modules within the module are left out, as they are by go. The error
// is of reading or parsing. Safe for concurrent use.
func Check(tree fs.FS) ([]string, error) {
	var found []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(tree, name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		s, err := parse(tree, name)
		if err != nil {
			return err
		}
		found = append(found, s.check()...)
		return nil
	})
	return found, err
}

// skipped says whether go leaves a directory out of the module.
func skipped(tree fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

func parse(tree fs.FS, name string) (*source, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, fmt.Errorf("archtest: %w", err)
	}
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("archtest: %w", err)
	}
	return &source{pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), files: files, syntax: syntax}, nil
}
