package receipt

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// filled returns a receipt whose every exported field has a value of its own.
func filled() *Receipt {
	r, n := new(Receipt), 0
	fill(reflect.ValueOf(r).Elem(), &n)
	return r
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint16:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(fmt.Sprint("key ", *n)), value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 5)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	default:
		panic(fmt.Sprintf("a receipt has a %s", v.Kind()))
	}
}

// Every field survives Put and Find, and all that are not marked as the gateway's own are in the JSON: a new field
// needs nothing but its place in the struct.
func TestEveryFieldIsKeptAndTold(t *testing.T) {
	g, want := NewRing(1), filled()
	outcomes := want.Outcomes
	put := filled()
	put.Outcomes = nil // Find fills them
	g.Put(put)
	for _, o := range outcomes {
		if r, ok := g.Find(want.ID); !ok {
			t.Fatal("it is not found")
		} else if r.Judge(o).Answer.Effect == Refused {
			t.Fatalf("%+v is refused", o)
		}
	}
	got, _ := g.Find(want.ID)
	got.verdicts = nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("put   %+v\nfound %+v", want, got)
	}
	text, err := json.MarshalIndent(got, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	var read Receipt
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if again, err := json.MarshalIndent(&read, "", "\t"); err != nil || string(again) != string(text) {
		t.Errorf("told\n%s\nread\n%s", text, again)
	}
	checkText(t, "testdata/names.txt", values.ReplaceAll(text, nil))
}

// The names, their order, and what an empty receipt leaves out are the API's.
func TestAnEmptyReceiptLeavesOutWhatThereIsNot(t *testing.T) {
	g := NewRing(1)
	g.Put(&Receipt{ID: "r", Attempts: []Attempt{{}}, Routing: []Routing{{}}})
	r, _ := g.Find("r")
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	checkText(t, "testdata/empty.json", text)
	g.Put(new(Receipt))
	r, _ = g.Find("")
	if text, err = json.Marshal(r); err != nil || !strings.Contains(string(text), `"routing":[],"attempts":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}

var update = flag.Bool("update", false, "write the files of testdata anew")

// values are what a line of JSON says beside its name.
var values = regexp.MustCompile(`(: )?("text [^"]*"|"1970[^"]*"|[0-9.]+|true),?`)

func checkText(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s:\n%s\ngot\n%s", file, want, got)
	}
}

// A zero that an engine has told is another thing than nothing.
func TestAZeroThatIsToldIsKept(t *testing.T) {
	g, d := NewRing(1), new(Draft)
	d.Begin("r")
	d.Attempt("s", "", "s-0", 0, 0).Delivered(0)
	d.Attempt("s", "", "s-1", 0, 0)
	g.Put(d.Receipt())
	r, _ := g.Find("r")
	if first := r.Attempts[0].DeliveredTokens; first == nil || *first != 0 || r.Attempts[1].DeliveredTokens != nil {
		t.Errorf("%+v", r.Attempts)
	}
}

// A receipt that was found stays what it was, however many come after it; it is found while it is kept and not after.
func TestAReceiptThatWasFoundIsNotWrittenOver(t *testing.T) {
	const most = 8
	rs := NewRings(most)
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			tenant := fmt.Sprint("t", writer)
			held := map[string]*Receipt{}
			var ids []string
			for i := range 2000 {
				id := fmt.Sprint("r-", writer, "-", i)
				draft := &Receipt{ID: id, RequestID: id}
				draft.Attempts = append(draft.Attempts, Attempt{Replica: id, Specialist: id})
				rs.Of(tenant).Put(draft)
				ids = append(ids, id)
				if i%7 == 0 {
					held[id], _ = rs.Find(tenant, id)
				}
				if i >= most {
					if _, ok := rs.Find(tenant, ids[i-most]); ok {
						t.Errorf("%s is found after %d others", ids[i-most], most)
					}
				}
				if _, ok := rs.Find("another", id); ok {
					t.Error("another tenant's receipt is found")
				}
			}
			for id, r := range held {
				if r == nil || r.ID != id {
					t.Errorf("%s was not found, or is another by now", id)
					continue
				}
				text, err := json.Marshal(r)
				if err != nil || strings.Count(string(text), id+`"`) != 4 {
					t.Errorf("%s became %s", id, text)
				}
			}
		})
	}
	all.Wait()
}

// The newest receipts are all found, and say what they said, in rings of all sizes.
func TestAReceiptIsReadAsItWasWritten(t *testing.T) {
	for _, most := range []int{1, 2, 3, 300} {
		rng, rs := rand.New(rand.NewPCG(1, 2)), NewRings(most)
		var want []string
		for i := range 400 + 3*most {
			r := filled()
			r.ID, r.Asked.Model, r.Outcomes = fmt.Sprint("r-", i), strings.Repeat("m", rng.IntN(300)), nil
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(text))
			rs.Of("t").Put(r)
			at := max(0, i-rng.IntN(most))
			found, ok := rs.Search(fmt.Sprint("r-", at))
			if !ok {
				t.Fatalf("after %d, %d is not found", i, at)
			}
			if got, _ := json.Marshal(found); string(got) != want[at] {
				t.Fatalf("written\n%s\nand read\n%s", want[at], got)
			}
		}
		held := 0
		for i := range want {
			if _, ok := rs.Search(fmt.Sprint("r-", i)); ok {
				held++
			}
		}
		if g := rs.Of("t"); held != most || len(g.pages) > 2+most*1000/pageSize {
			t.Errorf("%d receipts on %d pages, want %d", held, len(g.pages), most)
		}
	}
}

// What a caller writes to a receipt that it found changes no other.
func TestAReceiptThatWasFoundIsTheCallersOwn(t *testing.T) {
	g := NewRing(1)
	g.Put(&Receipt{ID: "r", Attempts: []Attempt{{Detail: "d"}}, Routing: []Routing{{Step: "s"}}})
	first, _ := g.Find("r")
	if told := first.ForClient(); told.Attempts[0].Detail != "" || first.Attempts[0].Detail != "d" {
		t.Errorf("a client is told %+v, of %+v", told.Attempts, first.Attempts)
	}
	first.Attempts[0].Detail, first.Routing[0].Step, first.Decision.Shadow = "", "", "x"
	if r, _ := g.Find("r"); r.Attempts[0].Detail != "d" || r.Routing[0].Step != "s" || r.Decision.Shadow != "" {
		t.Errorf("%+v", r)
	}
}

// A verdict on a receipt is seen by all that have found it before, counts once, and goes with the receipt.
func TestVerdictsStayWithTheirReceipt(t *testing.T) {
	rs := NewRings(2)
	rs.Of("t").Put(&Receipt{ID: "a"})
	first, _ := rs.Find("t", "a")
	second, _ := rs.Find("t", "a")
	once := first.Judge(Outcome{Kind: "k", Pass: true}).Answer.Effect
	if twice := second.Judge(Outcome{Kind: "k"}).Answer.Effect; once == Refused || twice != Refused {
		t.Error("a kind of verdict counts once")
	}
	if r, _ := rs.Find("t", "a"); len(r.Outcomes) != 1 || !r.Outcomes[0].Pass || len(first.Outcomes) != 0 {
		t.Errorf("%+v and %+v", r.Outcomes, first.Outcomes)
	}
	rs.Of("t").Put(&Receipt{ID: "b"})
	rs.Of("t").Put(&Receipt{ID: "c"})
	if r, _ := rs.Find("t", "c"); len(r.Outcomes) != 0 {
		t.Errorf("c took over %+v", r.Outcomes)
	}
}

func TestReceiptsForgetTheOldestOfTheirTenantOnly(t *testing.T) {
	rs := NewRings(3)
	for i := range 5 {
		rs.Of("a").Put(&Receipt{ID: fmt.Sprint("a", i)})
	}
	rs.Of("b").Put(&Receipt{ID: "b0"})
	for id, kept := range map[string]bool{"a0": false, "a1": false, "a2": true, "a3": true, "a4": true} {
		if _, got := rs.Find("a", id); got != kept {
			t.Errorf("receipt %s kept: %v, want %v", id, got, kept)
		}
	}
	_, others := rs.Find("a", "b0")
	if _, own := rs.Find("b", "b0"); others || !own {
		t.Error("a receipt is its tenant's alone")
	}
}
