package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"
)

// BenchmarkIdentify is of 1000 tenants with a key each.
func BenchmarkIdentify(b *testing.B) {
	list := make([]Config, 1000)
	for i := range list {
		sum := sha256.Sum256(fmt.Append(nil, "key ", i))
		list[i] = Config{Name: fmt.Sprint("t", i), Keys: []Key{{SHA256: hex.EncodeToString(sum[:])}}}
	}
	table, err := NewTable(list, nil, nil, Sharing{})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	for name, header := range map[string]string{"known": "Bearer key 500", "unknown": "Bearer key 5000"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = table.ByAuthorization(b.Context(), header, now)
			}
		})
	}
}
