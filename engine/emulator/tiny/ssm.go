package tiny

// state is what an SSM layer remembers of a sequence, however long it is.
type state [width][ssmState]float32

// ssm is the weights of a selective state space layer: each channel decays at rates that the input chooses.
type ssm struct {
	in, gate, step, out [width][width]float32
	write, read         [ssmState][width]float32
	rates               [ssmState]float32
}

func (s *ssm) draw(d dice) {
	d.fill(s.in[:], 1.5)
	d.fill(s.gate[:], 1)
	d.fill(s.step[:], 1)
	d.fill(s.out[:], 1.5)
	d.fill(s.write[:], 1)
	d.fill(s.read[:], 1)
	for i := range s.rates {
		s.rates[i] = 0.02 * float32(int(1)<<(2*i)) // memories of some fifty tokens down to one
	}
}

// mixState moves st on by one position and adds what the layer reads from it to x. h is x, normalised.
func (s *ssm) mixState(x, h *[width]float32, st *state) {
	var write, read [ssmState]float32
	for i := range write {
		write[i] = dot(s.write[i][:], h[:])
		read[i] = dot(s.read[i][:], h[:])
	}
	var y [width]float32
	for c := range y {
		dt := softplus(dot(s.step[c][:], h[:]))
		u := float32(dt * dot(s.in[c][:], h[:]))
		for i := range write {
			kept := float32(exp(-dt*s.rates[i]) * st[c][i])
			st[c][i] = kept + float32(write[i]*u)
		}
		y[c] = dot(read[:], st[c][:]) * silu(dot(s.gate[c][:], h[:]))
	}
	for r := range x {
		x[r] += dot(s.out[r][:], y[:])
	}
}
