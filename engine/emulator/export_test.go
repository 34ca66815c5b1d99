package emulator

// Vocabulary returns the pieces that a tiny model says, the end of an answer first.
func Vocabulary() (pieces []string) {
	for _, id := range lexicon().ids {
		pieces = append(pieces, lexicon().pieces[id])
	}
	return pieces
}

// textPrompt is a prompt of the emulators' own tokenizer.
func textPrompt(text []byte) prompt { return prompt{text, builtinCodec{}.tokens(text, true)} }
