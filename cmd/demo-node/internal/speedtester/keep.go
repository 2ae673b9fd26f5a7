package speedtester

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrLocked says that another process goes through the campaign.
var ErrLocked = errors.New("another speedtest schedule goes through this campaign, end it first")

// Keep writes a file so that a kill or a crash at any point leaves the old one or
// the new one, whole.
func Keep(name string, b []byte) (err error) {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.tmp")
	if err != nil {
		return fmt.Errorf("cannot keep the campaign's state: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("cannot keep the campaign's state: %w", err)
		}
	}()
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err == nil {
		// Without it a crash may forget the new name. Not every system can.
		if d, derr := os.Open(dir); derr == nil {
			_ = d.Sync()
			d.Close()
		}
	}
	return err
}
