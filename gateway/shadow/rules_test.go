package shadow

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"octet/calibration"
	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/gateway/wire"
)

// parsed is a chat with these members beside its messages.
func parsed(t *testing.T, members string) *wire.Request {
	t.Helper()
	r := new(wire.Request)
	body := `{"messages":[{"role":"user","content":"hi"}]` + members + `}`
	if err := wire.Parse(wire.Chat, []byte(body), wire.Limits{}, r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

const function = `{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}`

// A request with tools is copied as any other; one of several answers is not, and none whose tools an engine runs.
func TestWhatCanBeCompared(t *testing.T) {
	for members, want := range map[string]bool{
		``: true, `,"tools":[]`: true, `,"tools":[` + function + `]`: true,
		`,"tools":[` + function + `,{"type":"custom","custom":{"name":"patch"}}],"tool_choice":"required"`: true,
		`,"tools":[{"function":{"name":"f"}}]`:            true,
		`,"functions":[{"name":"f"}]`:                     true,
		`,"response_format":{"type":"json_object"}`:       true,
		`,"tools":[` + function + `,{"type":"code_run"}]`: false,
		`,"tools":[{"type":"m\u0063p","server_url":"x"}]`: false,
		`,"tools":[{"type":7}]`:                           false,
		`,"n":2,"tools":[` + function + `]`:               false,
		`,"n":2`:                                          false,
	} {
		if got := Comparable(parsed(t, members)); got != want {
			t.Errorf("%s: %v", members, got)
		}
	}
}

// Answers are held against what their request asks of them.
func TestRulesAreWhatARequestAsks(t *testing.T) {
	tools := `,"tools":[` + function + `,{"type":"custom","custom":{"name":"patch"}}]`
	both := []string{"read", "patch"}
	for members, want := range map[string]calibration.Rules{
		``: {}, `,"response_format":{"type":"text"}`: {},
		tools:                               {Tools: both},
		tools + `,"tool_choice":"auto"`:     {Tools: both},
		tools + `,"tool_choice":null`:       {Tools: both},
		tools + `,"tool_choice":"required"`: {Tools: both, MustCall: true},
		tools + `,"tool_choice":{"type":"function","function":{"name":"read"}}`: {Tools: both,
			MustCall: true},
		tools + `,"tool_choice":{"type":"custom","custom":{"name":"patch"}}`: {Tools: both,
			MustCall: true},
		tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`: {Tools: both},
		tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}`: {Tools: both,
			MustCall: true},
		`,"functions":[{"name":"old"}],"function_call":{"name":"old"}`: {Tools: []string{"old"},
			MustCall: true},
		`,"functions":[{"name":"old"}],"function_call":"auto"`:                             {Tools: []string{"old"}},
		`,"tool_choice":"required"`:                                                        {},
		`,"response_format":{"type":"json_object"}`:                                        {JSON: true},
		`,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}}`: {JSON: true},
		`,"guided_json":{"type":"object"}`:                                                 {JSON: true},
		`,"guided_json":null`:                                                              {},
		`,"guided_regex":"a+"`:                                                             {},
		`,"structured_outputs":{"json":{}}`:                                                {JSON: true},
		`,"structured_outputs":{"choice":["a","b"]}`:                                       {},
		`,"json_schema":"{}"`:                                                              {JSON: true},
	} {
		if got := rulesFor(calibration.Rules{}, parsed(t, members)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", members, got)
		}
	}
}

// reading is a Judge that keeps what it is shown.
type reading struct{ of calibration.Case }

func (r *reading) Judge(_ context.Context, of calibration.Case) (calibration.Class, error) {
	r.of = of
	return calibration.ShadowBetter, nil
}

// What a judge says of tool calls is the class; it stays a comparison of calls.
func TestAJudgeOfToolCallsIsShownThem(t *testing.T) {
	to, judge := new(taken), new(reading)
	c := Comparer{Records: NewRecords(to, time.Now), Metrics: metrics.New("", "", "")}
	call := []calibration.Call{{Name: "f", Arguments: []byte(`{"a":1}`)}}
	c.Compare(t.Context(), &Pair{Shadow: &ensemble.Shadow{Judge: judge}}, calibration.Answer{Text: []byte("no")},
		calibration.Answer{Text: []byte("I look."), Calls: call})
	e := to.records[0].Example
	if string(judge.of.Primary) != "no" ||
		string(judge.of.Shadow) != "I look.\n"+`{"name":"f","arguments":{"a":1}}`+"\n" {
		t.Errorf("shown %q and %q", judge.of.Primary, judge.of.Shadow)
	}
	if e.Class != calibration.ShadowBetter || e.Method != calibration.ByJudge || e.Form != calibration.FormCalls ||
		e.Calls != calibration.OneCalls {
		t.Errorf("%+v", e.Comparison)
	}
}

func TestAJudgeReadsCalls(t *testing.T) {
	calls := []calibration.Call{{Name: "read", Arguments: []byte(` {"path": "<a>"}`)},
		{Name: "cut", Arguments: []byte(`{"a`)}, {Name: "patch", Arguments: []byte(`{}`), Free: true}, {Name: "none"}}
	const lines = `{"name":"read","arguments":{"path":"<a>"}}` + "\n" + `{"name":"cut","arguments":"{\"a"}` + "\n" +
		`{"name":"patch","arguments":"{}"}` + "\n" + `{"name":"none","arguments":""}` + "\n"
	for text, want := range map[string]string{"": lines, "I look.": "I look.\n" + lines, "So:\n": "So:\n" + lines} {
		answer := calibration.Answer{Text: []byte(text), Calls: calls}
		if got := shown(answer); string(got) != want || string(answer.Text) != text {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := shown(calibration.Answer{Text: []byte("alone")}); string(got) != "alone" {
		t.Errorf("%q", got)
	}
}

// A record has hashes of calls, and the calls themselves only where texts are kept; comparisons of calls are counted.
func TestARecordHasCallsAsItHasTexts(t *testing.T) {
	for _, keep := range []bool{false, true} {
		to, counted := new(taken), metrics.New("", "", "")
		c := Comparer{Records: NewRecords(to, time.Now), Metrics: counted,
			Digest: func(text []byte) string { return "hash of " + string(text) }}
		p := &Pair{Example: calibration.Example{Intent: "debug"}, Shadow: &ensemble.Shadow{KeepText: keep}}
		c.Compare(t.Context(), p,
			calibration.Answer{Calls: []calibration.Call{{Name: "f", Arguments: []byte(`{"a":1}`)}},
				Finish: "tool_calls"},
			calibration.Answer{Text: []byte("no"), Finish: "stop"})
		e := to.records[0].Example
		want := calibration.CallText{Hash: "hash of f\x00{\"a\":1}", Bytes: 8}
		if keep {
			want.Name, want.Arguments = "f", `{"a":1}`
		}
		if calls := e.Answers.Primary.Calls; len(calls) != 1 || calls[0] != want || e.Answers.Shadow.Calls != nil ||
			e.Class != calibration.PrimaryCalls || e.Calls != calibration.OneCalls || e.Label != "" {
			t.Errorf("keep %v: %+v", keep, e)
		}
		c.Compare(t.Context(), p, calibration.Answer{Text: []byte("a")}, calibration.Answer{Text: []byte("b")})
		if got := callsCounted(t, counted); got != "debug one 1" {
			t.Errorf("keep %v: counted %q", keep, got)
		}
	}
}

// callsCounted is what is counted of comparisons of calls.
func callsCounted(t *testing.T, m *metrics.Series) string {
	t.Helper()
	all, err := m.Bounded(func() int { return 0 }).Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, family := range all {
		for _, series := range family.GetMetric() {
			if family.GetName() == "octet_shadow_tool_calls_total" {
				by := map[string]string{}
				for _, label := range series.GetLabel() {
					by[label.GetName()] = label.GetValue()
				}
				lines = append(lines, fmt.Sprint(by["intent"], " ", by["calls"], " ", series.GetCounter().GetValue()))
			}
		}
	}
	return strings.Join(lines, "\n")
}
