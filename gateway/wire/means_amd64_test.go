package wire

import "testing"

// byEveryMeans runs f once with each set of routines that this machine can run.
func byEveryMeans(t *testing.T, f func(t *testing.T)) {
	avx2, avx512 := hasAVX2, hasAVX512
	defer func() { hasAVX2, hasAVX512 = avx2, avx512 }()
	if avx512 {
		t.Run("AVX512", f)
	}
	hasAVX512 = false
	if avx2 {
		t.Run("AVX2", f)
	}
	hasAVX2 = false
	t.Run("words", f)
}
