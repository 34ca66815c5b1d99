//go:build hosts512

package config

// MaxReplicas is how many replicas one gateway can tell apart.
const MaxReplicas = 512
