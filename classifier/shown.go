package classifier

// Shown returns the text that a trained model sees of an input, at most 32 KiB.
func (in *Input) Shown() []byte {
	in.asides = KnownAsides
	return in.gather()
}
