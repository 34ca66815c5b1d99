//go:build hosts512

package index

// Words is the width of a HostBitmap in 64-bit words: 8 holds 512 replicas.
const Words = 8
