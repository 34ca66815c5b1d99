//go:build !hosts512

package config

// MaxReplicas is how many replicas one gateway can tell apart. `-tags hosts512` makes it 512.
const MaxReplicas = 256
