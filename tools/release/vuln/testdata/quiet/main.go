// Command quiet imports the package of the planted vulnerability, and calls something else.
package main

import "strings"

func main() { println(strings.ToUpper("a")) }
