package config_test

import (
	"fmt"

	"octet/config"
)

func ExampleParse() {
	_, err := config.Parse("octet.yaml", []byte(`
specialists:
  - name: debug
    fallback: systms
    replicas: [{url: "http://127.0.0.1:9001", blocks: many}]
  - name: systems
    block_sise: 8
    replicas: [{url: "http://127.0.0.1:9002"}]
`), config.Options{Sets: []string{"limits.drain=10"}})
	fmt.Println(err)
	// Output:
	// specialists[0].fallback: unknown_name: there is no specialist "systms"; did you mean "systems"? (line 4)
	// specialists[0].replicas[0].blocks: wrong_type: want a whole number, found text (line 5)
	// specialists[1].block_sise: unknown_key: there is no key "block_sise" here; did you mean "block_size"? (line 7)
	// limits.drain: bad_duration: "10" is not a duration with a unit, such as 30s or 5ms (set by --set limits.drain)
}
