package tenant

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A key that is refused is named by the field that it came in: Authorization where both are there.
func TestARefusedKeyIsNamedByItsField(t *testing.T) {
	acme := Config{Name: "acme", Keys: []Key{{SHA256: strings.Repeat("ab", 32)}}}
	table, err := NewTable([]Config{acme}, nil, nil, Sharing{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ authorization, apiKey, param string }{
		{"", "", "Authorization"}, {"", "wrong", "X-Api-Key"}, {"Bearer wrong", "wrong", "Authorization"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/v1/models", nil)
		for name, value := range map[string]string{"Authorization": c.authorization, "X-Api-Key": c.apiKey} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if _, no := table.Identify(r, time.Now()); no == nil || no.Param != c.param {
			t.Errorf("%+v: %+v", c, no)
		}
	}
}
