package peers

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"octet/routing/peers/peerspb"
)

// recorded is all that a gateway of version 1 tells. testdata/v1.bin is its message, as that version has written it: it
// is never written anew, so that a gateway of this version is understood by all that come.
func recorded() *peerspb.Message {
	return &peerspb.Message{
		Version: 1, From: "gw-a", Life: 0x0102030405060708, Seq: 7, LeaseMs: 2000, Whole: true,
		Work: []*peerspb.Work{{Replica: 42, Running: 3, Waiting: 2, Urgent: 111, Backlog: 5000, Tokens: 9000,
			Blocks: 600, AnswerMs: 1500}, {Replica: 43}},
		Knobs: []*peerspb.Knob{
			{Name: "shadow_threshold.debug", Clock: 9, At: "gw-b", Value: 0.25, By: "ops", Why: "a test", ForMs: 60000},
			{Name: "load_floor.debug", Clock: 10, At: "gw-a", Cleared: true}},
		Verdicts: []*peerspb.Verdict{{Specialist: "debug", AgeMs: 1234, Kind: "compile", By: "acme", Pass: true,
			Revision: "r1", OfKind: true, Overturns: true, PassedBy: "other"}},
		Seats:    []*peerspb.Seat{{Conversation: 77, Specialist: "debug", Tokens: 800}},
		Question: &peerspb.Question{Number: 5, Receipt: "gw-b.0123", ForClient: true},
		Answer:   &peerspb.Answer{Number: 6, Tenant: "acme", Receipt: []byte("{}")},
		Used:     []*peerspb.Used{{Tenant: "acme", Requests: 3, Tokens: -100, Budget: 250}},
	}
}

func TestAMessageOfVersion1IsReadFromNowOn(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "v1.bin"))
	if err != nil {
		t.Fatal(err)
	}
	m, work, err := parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := recorded()
	for i, w := range want.GetWork() {
		if len(work) != len(want.GetWork()) || work[i] != (told{w.GetReplica(), fromWire(w)}) {
			t.Errorf("of replicas it tells %+v", work)
		}
	}
	if want.Work = nil; !proto.Equal(m, want) {
		t.Errorf("it is read as\n%s, and was\n%s", prototext.Format(m), prototext.Format(want))
	}
	if len(m.ProtoReflect().GetUnknown()) > 0 {
		t.Error("a part of it is not known any more")
	}
	roll := NewRoll("reader", 1)
	h := heard(t, roll, text, noon)
	if at := roll.Beside(42); !h.Joins || !h.Fresh || at.Running != 3 || at.Urgent != 10 || at.Left != 5000 {
		t.Errorf("%+v, %+v", h, at)
	}
}

// A message of the next version may hold what this one does not know: the rest counts.
func TestWhatAnOlderGatewayDoesNotKnowIsPassedOver(t *testing.T) {
	m := recorded()
	m.Version = Version + 1
	m.ProtoReflect().SetUnknown([]byte{0xc2, 0x3e, 0x03, 'n', 'e', 'w'}) // field 1000, of three bytes
	text, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	roll := NewRoll("reader", 1)
	if h := heard(t, roll, text, noon); !h.Joins || roll.Beside(42).Running != 3 {
		t.Errorf("%+v, %+v", h, roll.Beside(42))
	}
}
