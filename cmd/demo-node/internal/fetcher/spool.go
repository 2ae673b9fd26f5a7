package fetcher

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"

	"github.com/assay-mux/assay/cmd/demo-node/internal/store"
	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// spool is where the bytes of one transfer wait until all are there and right.
// Each transfer has its own: what one peer sent is not mixed with what another
// did before it is known whom to blame.
type spool struct {
	file *os.File
	n    int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "demo-node-*")
	if err != nil {
		return nil, fmt.Errorf("cannot keep data meanwhile, set TMPDIR: %w", err)
	}
	return &spool{file: f}, nil
}

func (s *spool) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.n += int64(n)
	return n, err
}

// close drops it all.
func (s *spool) close() {
	if s == nil {
		return
	}
	s.file.Close()
	os.Remove(s.file.Name())
}

// verify says whether readers one after the other make the datum, how long that
// is, and keeps it if there is a directory to do so. The error is
// store.ErrMismatch or that of storing.
func verify(hash wire.Hash, dir string, parts []io.Reader) (int64, error) {
	all := io.MultiReader(parts...)
	if dir != "" {
		return keep(hash, dir, all)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, all)
	if err == nil && wire.Hash(sum.Sum(nil)) != hash {
		err = store.ErrMismatch
	}
	return n, err
}

func keep(hash wire.Hash, dir string, all io.Reader) (int64, error) {
	in, err := store.Create(dir, hash)
	if err != nil {
		return 0, err
	}
	defer in.Abort()
	n, err := io.Copy(in, all)
	if err != nil {
		return n, err
	}
	return n, in.Commit()
}
