package tiny

// lora is one adapter: what it adds to the projections q and v of each layer, x ↦ B(A·x). nil adds nothing.
type lora [layers]struct {
	qA, vA [rank][width]float32
	qB     [width][rank]float32
	vB     [kvWidth][rank]float32
}

// adapter draws the adapter called name; the base model, "", has none.
func (m *Model) adapter(name string) *lora {
	if name == "" {
		return nil
	}
	a, d := new(lora), newDice(m.seed, "adapter "+name)
	for l := range a {
		d.fill(a[l].qA[:], 1)
		d.fill(a[l].vA[:], 1)
		for r := range a[l].qB {
			d.row(a[l].qB[r][:], 1)
		}
		for r := range a[l].vB {
			d.row(a[l].vB[r][:], 1)
		}
	}
	return a
}

// projected is the query, key and value of one position in one layer, still without positions.
type projected struct {
	q    *[width]float32
	k, v *[kvWidth]float32
}

// project sets p to what layer l makes of h under the adapter a, which may be nil.
func (m *Model) project(l int, a *lora, h *[width]float32, p projected) {
	w, q, k, v := &m.layers[l], p.q, p.k, p.v
	for r := range q {
		q[r] = dot(w.q[r][:], h[:])
	}
	for r := range k {
		k[r] = dot(w.k[r][:], h[:])
		v[r] = dot(w.v[r][:], h[:])
	}
	if a == nil {
		return
	}
	var low [rank]float32
	for i := range low {
		low[i] = dot(a[l].qA[i][:], h[:])
	}
	for r := range q {
		q[r] += dot(a[l].qB[r][:], low[:])
	}
	for i := range low {
		low[i] = dot(a[l].vA[i][:], h[:])
	}
	for r := range v {
		v[r] += dot(a[l].vB[r][:], low[:])
	}
}
