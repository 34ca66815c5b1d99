package redisstream

import (
	"errors"
	"testing"

	"octet/routing/events"
)

// Whatever an entry holds, it is a batch that its replica may have sent, or a typed error.
func FuzzDecode(f *testing.F) {
	good := numbered(1)
	message, _ := events.Marshal(good)
	text, _ := events.MarshalJSON(good)
	f.Add("batch", string(message), "host", "", false)
	f.Add("json", string(text), "", events.Secret("s").Key("debug-0").Seal(text), true)
	f.Add("batch", string(message), "host", "00", true)
	f.Fuzz(func(t *testing.T, field, value, by, seal string, sealed bool) {
		secret := events.Secret("")
		if sealed {
			secret = "s"
		}
		b, err := decode(map[string]any{field: value, fieldBy: by, fieldSeal: seal}, secret)
		if err != nil {
			if !errors.Is(err, events.ErrBatch) && !errors.Is(err, errSeal) {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		if b.Check() != nil || len(b.By.Name) > events.MaxNameBytes || sealed &&
			seal != secret.Key(b.Replica).Seal([]byte(value)) && field != fieldSeal {
			t.Fatalf("%+v", b)
		}
	})
}

// Names that are too long are not kept.
func TestAPublishersNameIsBounded(t *testing.T) {
	message, _ := events.Marshal(numbered(1))
	long := string(make([]byte, events.MaxNameBytes+1))
	if _, err := decode(map[string]any{fieldBatch: string(message), fieldBy: long}, ""); !errors.Is(err,
		events.ErrBatch) {
		t.Error(err)
	}
	if _, err := NewPublisher(Config{Addr: "127.0.0.1:1", Publisher: long}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}
