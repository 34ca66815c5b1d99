package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func accepted(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "accepted.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A vulnerability counts where its function is called, unless it is accepted with a reason.
func TestWhatIsReachedIsFoundUnlessItIsAccepted(t *testing.T) {
	db, err := filepath.Abs("testdata/db")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		program, accepted string
		want              []string
	}{
		"called":         {"testdata/reaches", "# none\n", []string{"GO-2026-0001"}},
		"another is":     {"testdata/reaches", "GO-2026-0002 never runs\n", []string{"GO-2026-0001"}},
		"accepted":       {"testdata/reaches", "GO-2026-0001 its input is ours\n", nil},
		"imported alone": {"testdata/quiet", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := look(t.Context(), "file://"+db, accepted(t, c.accepted), c.program)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestAReasonIsWanted(t *testing.T) {
	if _, err := reasons(accepted(t, "GO-2026-0001\n")); err == nil {
		t.Error("none is wanted")
	}
	if known, err := reasons("accepted.txt"); err != nil {
		t.Errorf("%v: %v", known, err)
	}
}

func TestADatabaseThatIsAwayIsSaidSo(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	if _, err := look(t.Context(), away.URL, "accepted.txt", "testdata/quiet"); !errors.Is(err, errUnreachable) {
		t.Errorf("404: %v", err)
	}
	away.Close()
	if _, err := look(t.Context(), away.URL, "accepted.txt", "testdata/quiet"); !errors.Is(err, errUnreachable) {
		t.Errorf("closed: %v", err)
	}
}
