package wire

// opening is how a message begins that says its role and then its text, up to the text's first byte.
type opening struct {
	said string
	role uint8
}

// openings are those of every role, without spaces and with the ones that Python writes. The letter that a role begins
// with tells them apart.
var openings = func() (all [2][32]opening) {
	for i, role := range roles {
		all[0][role[0]&31] = opening{`"role":"` + role + `","content":"`, uint8(i)}
		all[1][role[0]&31] = opening{`"role": "` + role + `", "content": "`, uint8(i)}
	}
	return all
}()

// openingOf is the opening that b begins with; nil for none.
func openingOf(b []byte) *opening {
	if len(b) < len(`"role": "u`) {
		return nil
	}
	o := &openings[0][b[8]&31]
	if b[7] == ' ' {
		o = &openings[1][b[9]&31]
	}
	if n := len(o.said); n == 0 || len(b) < n || string(b[:n]) != o.said {
		return nil
	}
	return o
}
