package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// hashFile returns the hash and the size of a file, or ends with ctx.
func hashFile(ctx context.Context, path string) (wire.Hash, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return wire.Hash{}, 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, ending{ctx, f}, make([]byte, 256<<10))
	return wire.Hash(h.Sum(nil)), n, err
}

// ending is a reader that ends with a context: hashing terabytes must not hold
// up an interrupt.
type ending struct {
	ctx context.Context
	r   io.Reader
}

func (e ending) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}

// plainer replaces what the system says of a directory by what to do.
func plainer(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoDirectory
	case errors.Is(err, syscall.ENOTDIR):
		return ErrFile
	}
	return err
}
