package kvpool

// eachMeans calls f once with each set of routines that this machine can run.
func eachMeans(f func(name string)) {
	avx2, avx512 := hasAVX2, hasAVX512
	defer func() { hasAVX2, hasAVX512 = avx2, avx512 }()
	if avx512 {
		f("AVX512")
	}
	hasAVX512 = false
	if avx2 {
		f("AVX2")
	}
	hasAVX2 = false
	f("words")
}
