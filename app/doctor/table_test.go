package doctor

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Issue 22: docs/doctor.md has a row for each check, and no other.
func TestThePageHasEveryCheck(t *testing.T) {
	page, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, told []string
	for _, c := range Checks {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", c.Name, c.Seen, c.Means, c.Cure))
	}
	for _, c := range SharedChecks {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", c.Name, c.Seen, c.Means, c.Cure))
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `") {
			told = append(told, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(want, told) {
		t.Errorf("the page has not the rows of the table, which are:\n%s", strings.Join(want, "\n"))
	}
}
