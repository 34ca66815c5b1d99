// Octet-geo is octet with a plugin of your own: one line registers it, and nothing of the gateway is edited.
//
//	go run ./examples/geo/octet-geo check examples/geo/octet-geo/geo.yaml
package main

import (
	"octet/cmd"
	"octet/examples/geo"
)

func main() {
	geo.Register()
	cmd.Execute()
}
