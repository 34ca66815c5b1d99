package tokenizers

import "testing"

// bpeFile is a small tokenizer of our own, with ChatML beside it.
const bpeFile = "../bpe/testdata/octet.json"

// Files that did not change are not read again, and those that did are.
//
//nolint:lll // raw text that cannot be broken
func TestAReloadReadsWhatChanged(t *testing.T) {
	one, err := Load(bpeFile, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Load(bpeFile, "", one); err != nil || again != one {
		t.Errorf("%v: read again", err)
	}
	if other, err := Load(bpeFile, "../chattemplate/testdata/zephyr.jinja", one); err != nil || other == one || other.id == one.id {
		t.Errorf("%v: another template, and the same tokenizer", err)
	}
}

func TestSamplersTakeTheirShare(t *testing.T) {
	for _, share := range []float64{0, 0.01, 0.3, 1} {
		s, taken := sampler{share: share}, 0
		for range 1000 {
			if s.takes() {
				taken++
			}
		}
		if want := int(1000 * share); taken < want-1 || taken > want+1 {
			t.Errorf("%d of 1000 at %v", taken, share)
		}
	}
}
