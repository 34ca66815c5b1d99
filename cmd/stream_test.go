package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A gateway that turns its file over while it is read takes no record away: some are read twice, which a study knows.
func TestAFileThatIsTurnedOverMeanwhileIsReadWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.jsonl")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	read := func(turnAt string) error {
		seen = nil
		for _, f := range []string{path, path + ".1", path + ".2", path + ".3"} {
			_ = os.Remove(f) // of the time before
		}
		write(path, "new\n")
		write(path+".1", "middle\n")
		write(path+".2", "old\n")
		return readTurned(path, 3, func(line []byte) {
			if seen = append(seen, string(line)); string(line) != turnAt || slices.Index(seen, turnAt) < len(seen)-1 {
				return
			}
			for _, turn := range [][2]string{{".2", ".3"}, {".1", ".2"}, {"", ".1"}} {
				if err := os.Rename(path+turn[0], path+turn[1]); err != nil {
					t.Fatal(err)
				}
			}
			write(path, "newer\n")
		})
	}
	for _, turnAt := range []string{"nothing", "new", "middle", "old"} {
		err := read(turnAt)
		slices.Sort(seen)
		if got := strings.Join(slices.Compact(seen), " "); err != nil || got != "middle new old" {
			t.Errorf("turned over at %q: %v, %s", turnAt, err, got)
		}
	}
	if err := readTurned(filepath.Join(dir, "none"), 3, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := readTurned(path, 3, func([]byte) {}); err != nil {
		t.Errorf("between two files: %v", err)
	}
}
