package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// tempPrefix begins the name of a file that is not whole.
const tempPrefix = ".demo-node-"

// Errors of a Store.
var (
	ErrNoDirectory = errors.New("no such directory, name one that exists")
	ErrFile        = errors.New("not a directory, name the one that holds it")
	ErrNotFound    = errors.New("store: no file with that hash")
	ErrChanged     = errors.New("store: the file has changed since it was hashed, restart to offer it anew")
)

// Store offers the regular files that a directory held when it was opened. Its
// zero value offers none. Safe for concurrent use.
type Store struct {
	offers []wire.Offer
	paths  map[wire.Hash]string
	sizes  map[wire.Hash]int64
}

// Open hashes the regular files of a directory, not those below it. Files it
// cannot read are left out with a line in the log, as are symbolic links: they
// may lead out of what the owner meant to offer. It ends early with ctx.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Store, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot offer %s: %w", dir, plainer(err))
	}
	s := &Store{paths: make(map[wire.Hash]string), sizes: make(map[wire.Hash]int64)}
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		hash, size, err := hashFile(ctx, path)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			log.Warn("file left out", "path", path, "err", err)
			continue
		}
		s.add(path, hash, size)
	}
	s.sort(dir, log)
	return s, nil
}

func (s *Store) add(path string, hash wire.Hash, size int64) {
	if _, twice := s.paths[hash]; twice {
		return
	}
	s.paths[hash], s.sizes[hash] = path, size
	s.offers = append(s.offers, wire.Offer{Hash: hash, Size: size})
}

// sort puts the largest first: the first transfer then says most about the
// rate. It drops what a list has no room for.
func (s *Store) sort(dir string, log *slog.Logger) {
	slices.SortFunc(s.offers, func(a, b wire.Offer) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), slices.Compare(a.Hash[:], b.Hash[:]))
	})
	if n := len(s.offers); n > wire.MaxOffers {
		log.Warn("too many files, the smallest are left out", "dir", dir, "files", n, "offered", wire.MaxOffers)
		s.offers = s.offers[:wire.MaxOffers]
	}
}

// Offers returns the files, largest first. The caller may keep the slice.
func (s *Store) Offers() []wire.Offer { return slices.Clone(s.offers) }

// Bytes returns the size of all files together.
func (s *Store) Bytes() (total int64) {
	for _, o := range s.offers {
		total += o.Size
	}
	return total
}

// Read opens a file from an offset on and says how many bytes remain of it.
// The errors are ErrNotFound, ErrChanged, or the file's. An offset beyond the
// end reads nothing.
func (s *Store) Read(hash wire.Hash, offset int64) (io.ReadCloser, int64, error) {
	path, ok := s.paths[hash]
	if !ok {
		return nil, 0, ErrNotFound
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	size := s.sizes[hash]
	offset = min(max(offset, 0), size)
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != size) {
		err = ErrChanged
	}
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, size - offset, nil
}
