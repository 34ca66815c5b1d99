//go:build !hosts512

package index

// Words is the width of a HostBitmap in 64-bit words: 4 holds 256 replicas. A build constant; `-tags hosts512` makes it
// 8.
const Words = 4
