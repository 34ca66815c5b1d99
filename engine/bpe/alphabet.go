package bpe

// alphabet maps each byte to the character that stands for it in a byte-level vocabulary, as GPT-2 has it: printable
// Latin-1 stands for itself, all else for the characters from 256 on, in order.
var alphabet = func() (runes [256]rune) {
	next := rune(256)
	for b := range runes {
		if '!' <= b && b <= '~' || 0xA1 <= b && b <= 0xAC || 0xAE <= b {
			runes[b] = rune(b)
			continue
		}
		runes[b] = next
		next++
	}
	return runes
}()

// letters is alphabet the other way round.
var letters = func() map[rune]byte {
	m := make(map[rune]byte, len(alphabet))
	for b, r := range alphabet {
		m[r] = byte(b)
	}
	return m
}()

// spelled returns the bytes that a token of a byte-level vocabulary stands for; false when it is not in the alphabet.
func spelled(token string) (string, bool) {
	out := make([]byte, 0, len(token))
	for _, r := range token {
		b, ok := letters[r]
		if !ok {
			return "", false
		}
		out = append(out, b)
	}
	return string(out), true
}
