// Command reaches calls what the planted vulnerability is in.
package main

import "strings"

func main() { println(strings.Title("a")) }
