package tiny

import "math"

// dot returns the inner product of a and b, which are equally long, summed in order. The conversion keeps the product
// from being fused into the sum, which compilers do here and not there.
func dot(a, b []float32) (sum float32) {
	b = b[:len(a)]
	for i, x := range a {
		sum += float32(x * b[i])
	}
	return sum
}

// addScaled adds by times of b to sum, which is as long.
func addScaled(sum []float32, by float32, b []float32) {
	b = b[:len(sum)]
	for i := range sum {
		sum[i] += float32(by * b[i])
	}
}

// normalise sets h to x over its root mean square, times gain.
func normalise(h, x, gain *[width]float32) {
	scale := 1 / float32(math.Sqrt(float64(dot(x[:], x[:])/width+1e-6)))
	for i := range h {
		h[i] = x[i] * scale * gain[i]
	}
}

func exp(x float32) float32 { return float32(math.Exp(float64(x))) }

func silu(x float32) float32 { return x / (1 + exp(-x)) }

func softplus(x float32) float32 { return float32(math.Log1p(math.Exp(float64(x)))) }
