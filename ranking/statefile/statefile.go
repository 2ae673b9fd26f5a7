// Package statefile keeps the state of a ranker in one file.
//
// The ranker itself does no I/O, so that all it does can be tested to the nanosecond; this is the
// part that does. A file is replaced whole or not at all, whatever happens in between, and one that
// is damaged is moved aside, for someone to look at, and not into the way of the next start.
package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/assay-mux/assay/ranking"
)

// Most is the largest file that is read, in bytes: several times what 10,000 records take.
const Most = 256 << 20

// aside is what the name of a damaged file gets.
const aside = ".damaged"

// Save writes the state of a ranker as of an instant of its base. It writes a file beside the old one,
// has it on the disk, and renames it over the old one. One call at a time for each path.
func Save(r *ranking.Ranker, path string, now time.Duration) (err error) {
	state, err := r.Save(now)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("statefile: the state was not saved, make its directory writable: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("statefile: the state was not saved, the old one stands: %w", err)
		}
	}()
	if err = write(f, state); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// write fills a file, has it on the disk, and closes it.
func write(f *os.File, state []byte) error {
	_, err := f.Write(state)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir has a rename on the disk, where directories can be synced.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Load reads a state into a ranker, as of an instant of its base and of the wall clock: what ages has
// aged since the file was written. That there is no file is no error; loaded says whether there was
// one. A file that is damaged is renamed to one with .damaged at its end, over any that is there, and
// the error is [ranking.ErrDamagedState] and says so; the ranker is then as it was.
func Load(r *ranking.Ranker, path string, now time.Duration, wall time.Time) (loaded bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("statefile: the state was not read: %w", err)
	}
	state, err := read(path, info.Size())
	if err == nil {
		err = r.Load(now, state, wall.Sub(info.ModTime()))
	}
	if !errors.Is(err, ranking.ErrDamagedState) {
		if err != nil {
			return false, fmt.Errorf("statefile: the state was not read: %w", err)
		}
		return true, nil
	}
	if rename := os.Rename(path, path+aside); rename != nil {
		return false, fmt.Errorf("%w; it could not be moved aside: %w", err, rename)
	}
	return false, fmt.Errorf("%w; it is kept as %s", err, path+aside)
}

func read(path string, size int64) ([]byte, error) {
	if size > Most {
		return nil, fmt.Errorf("%w: %d bytes are more than it may have", ranking.ErrDamagedState, size)
	}
	return os.ReadFile(path)
}
