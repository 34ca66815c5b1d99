package redisstream

import (
	"errors"
	"testing"

	"octet/routing/events"
)

// With a secret, JSON needs a seal as protobuf does, on the same stream and in the same entry: what is read is what the
// seal is of, and a seal of one does not open the other.
func TestJSONBesideProtobufNeedsASealOfItsOwn(t *testing.T) {
	const secret = events.Secret("sesame")
	said, forged := numbered(1), numbered(2)
	message, err := events.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	text, err := events.MarshalJSON(forged)
	if err != nil {
		t.Fatal(err)
	}
	key := secret.Key(said.Replica)
	of := func(message, text []byte, seal string) map[string]any {
		fields := map[string]any{}
		for name, value := range map[string]string{fieldBatch: string(message), fieldJSON: string(text),
			fieldSeal: seal} {
			if value != "" {
				fields[name] = value
			}
		}
		return fields
	}
	for name, row := range map[string]struct {
		fields map[string]any
		seq    uint64 // of the batch that is read; 0 is none
	}{
		"sealed protobuf":                  {of(message, nil, key.Seal(message)), 1},
		"sealed JSON":                      {of(nil, text, key.Seal(text)), 2},
		"JSON without a seal":              {of(nil, text, ""), 0},
		"JSON with the protobuf's seal":    {of(nil, text, key.Seal(message)), 0},
		"JSON beside the sealed protobuf":  {of(message, text, key.Seal(message)), 1},
		"sealed JSON beside protobuf":      {of(message, text, key.Seal(text)), 0},
		"JSON with another replica's seal": {of(nil, text, secret.Key("another").Seal(text)), 0},
	} {
		b, err := decode(row.fields, secret)
		switch {
		case row.seq == 0 && !errors.Is(err, errSeal):
			t.Errorf("%s: batch %d is read, %v", name, b.Seq, err)
		case row.seq > 0 && (err != nil || b.Seq != row.seq || b.By.Name != events.Sealed):
			t.Errorf("%s: batch %d by %q, %v, want %d", name, b.Seq, b.By.Name, err, row.seq)
		}
	}
}
