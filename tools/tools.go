//go:build tools

// Package tools pins the programs that the checks run, apart from the product's own modules.
package tools

import _ "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"
