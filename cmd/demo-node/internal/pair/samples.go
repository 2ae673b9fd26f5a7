package pair

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// MakeFiles writes a node's share of files: so many of a size, and one each of
// a third, a twelfth and a 192nd of it, since real files are not all alike. The
// content is pseudo-random and follows from the seed alone, so that nothing
// compresses it and two runs carry the same.
func MakeFiles(dir string, seed uint64, count int, size int64) error {
	sizes := make([]int64, 0, count+3)
	for range count {
		sizes = append(sizes, size)
	}
	sizes = append(sizes, size/3, size/12, size/192)
	for i, n := range sizes {
		path := filepath.Join(dir, fmt.Sprintf("file-%02d.bin", i+1))
		if err := MakeFile(path, seed<<32+uint64(i), n); err != nil {
			return fmt.Errorf("cannot make files to transfer, give some with --dir-a and --dir-b: %w", err)
		}
	}
	return nil
}

// MakeFile writes so many bytes that follow from the seed alone.
func MakeFile(path string, seed uint64, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	_, err = io.CopyN(f, rand.NewChaCha8(key), size)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
