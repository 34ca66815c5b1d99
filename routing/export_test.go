package routing

// Waves returns the names of the legs, grouped by which select side by side.
func (w *Flow) Waves() (groups [][]string) {
	first := 0
	for _, end := range w.waves {
		var names []string
		for _, s := range w.legs[first:end] {
			names = append(names, s.Name)
		}
		groups, first = append(groups, names), end
	}
	return groups
}
