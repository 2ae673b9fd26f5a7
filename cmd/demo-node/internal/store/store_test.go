package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

func write(t *testing.T, dir, name, content string) wire.Hash {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256([]byte(content))
}

func open(t *testing.T, dir string) (*Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s, err := Open(t.Context(), dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s, &log
}

func TestOpenOffersRegularFiles(t *testing.T) {
	dir := t.TempDir()
	small, large := write(t, dir, "small", "abc"), write(t, dir, "large", "abcdef")
	write(t, dir, "again", "abc")
	write(t, dir, tempPrefix+"123", "not whole")
	os.Mkdir(filepath.Join(dir, "sub"), 0o755)
	os.Symlink("/etc/passwd", filepath.Join(dir, "link"))
	s, _ := open(t, dir)
	want := []wire.Offer{{Hash: large, Size: 6}, {Hash: small, Size: 3}}
	got := s.Offers()
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] || s.Bytes() != 9 {
		t.Errorf("offers %v, %d bytes; want %v", got, s.Bytes(), want)
	}
}

func TestUnreadableFileIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good", "abc")
	write(t, dir, "bad", "def")
	os.Chmod(filepath.Join(dir, "bad"), 0)
	if f, err := os.Open(filepath.Join(dir, "bad")); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	s, log := open(t, dir)
	if len(s.Offers()) != 1 || !strings.Contains(log.String(), "bad") {
		t.Errorf("%d offers, log %q; want one, and a line for the other", len(s.Offers()), log)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "abc")
	for name, want := range map[string]error{"missing": ErrNoDirectory, "file": ErrFile} {
		bad := filepath.Join(dir, name)
		if _, err := Open(t.Context(), bad, slog.New(slog.DiscardHandler)); !errors.Is(err, want) || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v, want %v", bad, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, dir, slog.New(slog.DiscardHandler)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	h := write(t, dir, "file", "abcdef")
	s, _ := open(t, dir)
	for offset, want := range map[int64]string{0: "abcdef", 2: "cdef", 6: "", 99: "", -1: "abcdef"} {
		f, n, err := s.Read(h, offset)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(f)
		f.Close()
		if string(got) != want || n != int64(len(want)) {
			t.Errorf("from %d: %q, %d bytes; want %q", offset, got, n, want)
		}
	}
	if _, _, err := s.Read(wire.Hash{}, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown hash: %v", err)
	}
	if _, _, err := new(Store).Read(h, 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("zero store: %v", err)
	}
	write(t, dir, "file", "abc")
	if _, _, err := s.Read(h, 0); !errors.Is(err, ErrChanged) {
		t.Errorf("changed: %v", err)
	}
	os.Remove(filepath.Join(dir, "file"))
	if _, _, err := s.Read(h, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// names lists a directory.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on the way")
	want := wire.Hash(sha256.Sum256([]byte("whole")))
	in, err := Create(dir, want)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "who")
	if Has(t.Context(), dir, want) {
		t.Error("there before it is whole")
	}
	io.WriteString(in, "le")
	if err := in.Commit(); err != nil {
		t.Fatal(err)
	}
	in.Abort() // does nothing
	if !Has(t.Context(), dir, want) {
		t.Error("not there")
	}
	if got := names(t, dir); len(got) != 1 || got[0] != want.String() {
		t.Errorf("the directory holds %v", got)
	}
}

// TestMismatchKeepsWhatWasThere: a wrong file takes no name, least of all that of
// a whole one.
func TestMismatchKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	h := wire.Hash(sha256.Sum256([]byte("whole")))
	write(t, dir, h.String(), "whole")
	in, err := Create(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "hole")
	if err := in.Commit(); !errors.Is(err, ErrMismatch) {
		t.Errorf("commit: %v", err)
	}
	if !Has(t.Context(), dir, h) || len(names(t, dir)) != 1 {
		t.Errorf("the directory holds %v, or the file is damaged", names(t, dir))
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	in, err := Create(dir, wire.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "half")
	in.Abort()
	in.Abort()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("the directory holds %v", got)
	}
}

func TestCommitErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	h := wire.Hash(sha256.Sum256(nil))
	in, err := Create(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(dir)
	if err := in.Commit(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("directory gone: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := Create(file, h); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("file for a directory: %v", err)
	}
}

func TestHasWantsTheWholeFile(t *testing.T) {
	dir := t.TempDir()
	h := wire.Hash(sha256.Sum256([]byte("whole")))
	if Has(t.Context(), dir, h) {
		t.Error("has what is not there")
	}
	write(t, dir, h.String(), "damaged")
	if Has(t.Context(), dir, h) {
		t.Error("has a damaged file")
	}
}

// TestTooManyFiles: the smallest are left out, aloud.
func TestTooManyFiles(t *testing.T) {
	var s Store
	for i := range wire.MaxOffers + 2 {
		s.offers = append(s.offers, wire.Offer{Size: int64(i)})
	}
	var log bytes.Buffer
	s.sort("dir", slog.New(slog.NewTextHandler(&log, nil)))
	if n := len(s.offers); n != wire.MaxOffers || s.offers[n-1].Size != 2 {
		t.Errorf("%d offers, the smallest of %d bytes", n, s.offers[n-1].Size)
	}
	if !strings.Contains(log.String(), "too many files") {
		t.Errorf("log %q", &log)
	}
}
