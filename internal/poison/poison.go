// Package poison overwrites memory that is given back before it is used again, where Octet is built with the tag
// poison: what still refers to it then reads nonsense at once, in every test, and not once in a million requests.
// Without the tag it does nothing.
//
// A place that recycles memory has two duties: it says in one line why nothing else can hold that memory, and it
// poisons the memory.
package poison

// Byte is what bytes are overwritten with: no digit, no letter, no white space, and not valid in UTF-8 or JSON.
const Byte = 0xfe

// Word is eight of them.
const Word = 0xfefefefefefefefe

// Bytes overwrites all of b's memory, that behind its length included.
func Bytes(b []byte) {
	if On {
		fill(b[:cap(b)], Byte)
	}
}

// Words overwrites all of the numbers' memory with numbers whose every byte is Byte.
func Words[N ~uint16 | ~uint32 | ~uint64 | ~int32](s []N) {
	if On {
		word := uint64(Word)
		fill(s[:cap(s)], N(word))
	}
}

// Values clears all of the memory of values that hold pointers, which nothing else may be written over.
func Values[T any](s []T) {
	if On {
		clear(s[:cap(s)])
	}
}

func fill[T any](s []T, with T) {
	for i := range s {
		s[i] = with
	}
}
