package wire

import (
	"slices"
	"testing"
)

func TestRolesAndMembersAreWhereTheirTablesSay(t *testing.T) {
	for i, role := range roles {
		for spaced, text := range []string{`"role":"` + role + `","content":"`,
			`"role": "` + role + `", "content": "`} {
			o := openingOf([]byte(text + `x"}`))
			if roleOf([]byte(role)) != uint8(i) || o == nil || o.role != uint8(i) || o.said != text ||
				openingOf([]byte(text[:len(text)-1]+"x")) != nil {
				t.Errorf("%s, spaced %d: role %d, opening %+v", role, spaced, roleOf([]byte(role)), o)
			}
		}
	}
	for i, name := range memberNames {
		if memberOf([]byte(name)) != i {
			t.Errorf("%s is member %d", name, memberOf([]byte(name)))
		}
	}
	for _, other := range []string{"", "Role", "roles", "contend", "tool_call_ie", "wizard"} {
		if memberOf([]byte(other)) >= 0 || slices.Contains(roles[:], other) || roleOf([]byte(other)) != roleless {
			t.Errorf("%q is known", other)
		}
	}
}

// A message says the same whatever is between its tokens and in whichever order its members come.
func TestAMessageThatBeginsAsMostDoIsReadLikeAnyOther(t *testing.T) {
	for _, role := range roles {
		for _, text := range []string{``, `x`, `two\nlines`, `a text of more than sixteen bytes`, `é`, `\u00e9`} {
			want := ""
			for i, message := range []string{
				`{"content":"` + text + `","role":"` + role + `"}`,
				`{"role":"` + role + `","content":"` + text + `"}`,
				`{"role": "` + role + `", "content": "` + text + `"}`,
				`{"role": "` + role + `","content":"` + text + `","name":"n"}`,
				`{"role":"` + role + `","content":"` + text + `","x":{}}`,
			} {
				got := readTurns(mustParse(t, Chat, `{"messages":[`+message+`]}`))[0]
				if i == 0 {
					want = got
				}
				if got != want {
					t.Errorf("%s is %q, want %q", message, got, want)
				}
			}
		}
	}
}

func TestAMemberThatRepeatsBehindAnOpeningIsRefused(t *testing.T) {
	var r Request
	for _, again := range []string{`"role":"user"`, `"content":"x"`, `"rol\u0065":"user"`, `"name":"a","name":"b"`,
		`"x":1,"x":2`} {
		body := `{"messages":[{"role":"user","content":"x",` + again + `}]}`
		if e := asError(t, Parse(Chat, []byte(body), Limits{}, &r)); e.Code != CodeDuplicateKey {
			t.Errorf("%s: %v", body, e)
		}
	}
}
