package main

import _ "github.com/sasha-s/go-deadlock" // go.mod has its version for the copy
