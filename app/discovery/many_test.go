package discovery

import (
	"fmt"
	"testing"

	"octet/config"
)

// Endpoints by the ten thousand, each of hundreds of ranks, are not laid out in memory: the first ones count.
func TestRanksOfManyEndpointsAreBounded(t *testing.T) {
	const ranks = 500
	c, err := config.Parse("octet.yaml", []byte(fmt.Sprintf(`
specialists:
  - name: debug
    discover:
      dns: {name: vllm.test, port: 8000}
      template: {engine: vllm, ranks: %d}
`, ranks)), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	endpoints := make([]config.Endpoint, 10_000)
	for i := range endpoints {
		endpoints[i].URL = fmt.Sprintf("http://10.0.%d.%d:8000", i/256, i%256)
	}
	set := SetOf(&c.Specialists[0], "dns", endpoints)
	most := config.MaxFound / ranks
	if len(set.Replicas) != most*ranks || len(set.Refused) != len(endpoints)-most {
		t.Errorf("%d replicas, %d refused", len(set.Replicas), len(set.Refused))
	}
	if r := set.Refused[0]; r.Code != config.CodeTooMany || r.Replica != endpoints[most].URL {
		t.Errorf("%+v", r)
	}
}
