// Octet is the serving gateway for an ensemble of specialist models. See README.md.
package main

import "octet/cmd"

func main() { cmd.Execute() }
