package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// ErrMismatch says that what came is not what was asked for.
var ErrMismatch = errors.New("hash mismatch: what came is not the file asked for, nothing was kept; ask another peer")

// Incoming is a file that is arriving. End it with Commit or Abort. Not safe
// for concurrent use.
type Incoming struct {
	dir  string
	want wire.Hash
	file *os.File
	sum  hash.Hash
	done bool
}

// Create begins a file in a directory, which is made if it is missing.
func Create(dir string, want wire.Hash) (*Incoming, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot store in %s, choose another with --out: %w", dir, err)
	}
	f, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("cannot store in %s, choose another with --out: %w", dir, err)
	}
	return &Incoming{dir: dir, want: want, file: f, sum: sha256.New()}, nil
}

// Write appends bytes.
func (in *Incoming) Write(p []byte) (int, error) {
	n, err := in.file.Write(p)
	in.sum.Write(p[:n])
	return n, err
}

// Commit gives the file its name if it is what was asked for; else it removes
// it and returns ErrMismatch. The bytes are on the disk before the name is, so
// that a crash does not leave a name without them.
func (in *Incoming) Commit() error {
	if wire.Hash(in.sum.Sum(nil)) != in.want {
		in.Abort()
		return ErrMismatch
	}
	err := in.file.Sync()
	if err == nil {
		err = in.file.Chmod(0o644)
	}
	if cerr := in.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(in.file.Name(), Path(in.dir, in.want))
	}
	if err != nil {
		in.Abort()
		return fmt.Errorf("cannot store in %s: %w", in.dir, err)
	}
	in.done = true
	return nil
}

// Abort removes what has arrived. After a Commit it does nothing.
func (in *Incoming) Abort() {
	if in.done {
		return
	}
	in.done = true
	in.file.Close()
	os.Remove(in.file.Name())
}

// Path is where a directory keeps a file.
func Path(dir string, h wire.Hash) string { return filepath.Join(dir, h.String()) }

// Has says whether a directory keeps a file whole: one under its name that
// hashes to it.
func Has(ctx context.Context, dir string, h wire.Hash) bool {
	got, _, err := hashFile(ctx, Path(dir, h))
	return err == nil && got == h
}
