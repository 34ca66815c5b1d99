package gateway

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"octet/gateway/metrics"
	"octet/gateway/seats"
)

// Issue 20: docs/api.md has every endpoint of both listeners, and no other.
func TestTheAPIPageHasEveryEndpoint(t *testing.T) {
	page, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## Endpoints\n")
	text, _, _ = strings.Cut(text, "\n## ")
	data, admin, found := strings.Cut(text, "On the admin listener.")
	if !found {
		t.Fatal("the page does not tell the listeners apart")
	}
	endpoints := regexp.MustCompile("`((?:GET|HEAD|POST|PUT|DELETE) /[^`]*)` \\|")
	s, _ := lanes(t)
	s.metrics, s.seats = metrics.New("", "", ""), seats.New(s.now)
	for listener, of := range map[string]struct {
		text   string
		engine *gin.Engine
	}{"data": {data, s.router()}, "admin": {admin, s.operators()}} {
		var told, served []string
		for _, row := range endpoints.FindAllStringSubmatch(of.text, -1) {
			told = append(told, row[1])
		}
		for _, route := range of.engine.Routes() {
			served = append(served, route.Method+" "+route.Path)
		}
		for _, endpoint := range served {
			if !slices.Contains(told, endpoint) {
				t.Errorf("%s listener: %s is not on the page", listener, endpoint)
			}
		}
		for _, endpoint := range told {
			if !slices.Contains(served, endpoint) {
				t.Errorf("%s listener: the page has %s, which is not served", listener, endpoint)
			}
		}
	}
}
