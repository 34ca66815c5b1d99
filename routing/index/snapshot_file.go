package index

import (
	"fmt"
	"os"
	"path/filepath"
)

// SaveFile saves a snapshot as the file at path, which is at every moment the old one or the new one, whole.
func (x *Indexer) SaveFile(path string, hashes uint64, name func(HostID) string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // which is gone by then if all went well
	err = x.Save(f, hashes, name)
	for _, step := range [...]func() error{f.Sync, f.Close} {
		if e := step(); err == nil && e != nil {
			err = fmt.Errorf("index: writing a snapshot: %w", e)
		}
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename in dir outlast a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// LoadFile is Load from the file at path. The file system's own errors, such as that there is none, come as they are.
func LoadFile(path string, c Config, hashes uint64, place func(replica string) (HostID, bool)) (*Indexer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Load(f, c, hashes, place)
}
