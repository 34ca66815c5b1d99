package config

import "testing"

const ruled = `limits: {profile_headers: [X-Region]}
profiles: {mine: {pick: max-score}}
specialists:
- name: coder
  replicas: [{url: http://h:1}]
`

// GAIE-02, GAIE-04: what rules of profiles and their headers can have wrong is found before anything is served.
func TestRulesOfProfilesAreChecked(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"an unknown profile", ruled + "  profiles: [{use: min}]",
			`specialists[0].profiles[0].use: unknown_name: there is no profile "min"; did you mean "mine"? (line 6)`},
		{"no default", ruled + "  profiles: [{when: {intent: codegen}, use: mine}]",
			"specialists[0].profiles: missing: there is no default: the last rule must have no when, for what fits " +
				"no other (line 6)"},
		{"a rule after the default", ruled + "  profiles:\n  - use: mine\n  - use: mine",
			"specialists[0].profiles[1]: unreachable: no request comes here: specialists[0].profiles[0] takes all " +
				"that fit this rule (line 8)"},
		{"a rule that another covers", ruled + "  profiles:\n" +
			"  - {when: {priority_min: 10, prompt_tokens_min: 5}, use: mine}\n" +
			"  - {when: {intent: debug, priority_min: 11, prompt_tokens_min: 5, prompt_tokens_max: 9}, use: mine}\n" +
			"  - use: mine",
			"specialists[0].profiles[1]: unreachable: no request comes here: specialists[0].profiles[0] takes all " +
				"that fit this rule (line 8)"},
		{"a header that another covers", ruled + "  profiles:\n" +
			"  - {when: {header: {x-region: eu}}, use: mine}\n" +
			"  - {when: {intent: debug, header: {X-REGION: eu}}, use: mine}\n  - use: mine",
			"specialists[0].profiles[1]: unreachable: no request comes here: specialists[0].profiles[0] takes all " +
				"that fit this rule (line 8)"},
		{"both", ruled + "  profile: mine\n  profiles: [{use: mine}]",
			"specialists[0].profile: conflict: profiles chooses the profile: leave one of the two out (line 6)"},
		{"an unknown intent", ruled + "  profiles: [{when: {intent: codgen}, use: mine}, {use: mine}]",
			`specialists[0].profiles[0].when.intent: unknown_name: there is no intent "codgen"; did you mean ` +
				`"codegen"? (line 6)`},
		{"no priority", ruled + "  profiles: [{when: {priority_min: 5, priority_max: 4}, use: mine}, {use: mine}]",
			"specialists[0].profiles[0].when.priority_max: conflict: 4 is below priority_min, 5: no request fits " +
				"(line 6)"},
		{"no length",
			ruled + "  profiles: [{when: {prompt_tokens_min: 5, prompt_tokens_max: 4}, use: mine}, {use: mine}]",
			"specialists[0].profiles[0].when.prompt_tokens_max: conflict: 4 is below prompt_tokens_min, 5: no " +
				"request fits (line 6)"},
		{"a header that is not listed",
			ruled + "  profiles: [{when: {header: {X-Zone: a}}, use: mine}, {use: mine}]",
			`specialists[0].profiles[0].when.header.X-Zone: unknown_name: limits.profile_headers does not list ` +
				`"X-Zone": rules see no other header (line 6)`},
		{"no next", ruled + "  profiles: [{use: mine, if_none: next}]",
			"specialists[0].profiles[0].if_none: conflict: no rule comes after the last (line 6)"},
		{"no effect", ruled + "  workflow: disaggregated\n" +
			"  disaggregation: {prefill: {profile: mine}, decode_profile: mine}\n  profiles: [{use: mine}]",
			"specialists[0].profiles: conflict: of no effect: every leg names a profile of its own (line 8)"},
		{"a secret", small + "limits: {profile_headers: [authorization]}",
			"limits.profile_headers[0]: reserved_name: Authorization is a secret of the client's: no plugin sees it " +
				"(line 3)"},
		{"another secret", small + "limits: {profile_headers: [COOKIE]}",
			"limits.profile_headers[0]: reserved_name: Cookie is a secret of the client's: no plugin sees it (line 3)"},
		{"a destination", small + "limits: {profile_headers: [x_gateway_destination_endpoint]}",
			"limits.profile_headers[0]: reserved_name: X-Gateway-Destination-Endpoint names an internal destination " +
				"or identity: a client's is never honoured (line 3)"},
		{"no text", "specialists: [{name: a, modalities: [image], replicas: [{url: http://h}]}]",
			"specialists[0].modalities: conflict: text is one of them always (line 1)"},
		{"an unknown modality", "specialists: [{name: a, modalities: [text, audio], replicas: [{url: http://h}]}]",
			`specialists[0].modalities[1]: bad_value: "audio" is not one of text, image (line 1)`},
		{"a secret for engines", small + "limits: {forward_headers: [cookie]}",
			"limits.forward_headers[0]: reserved_name: Cookie is a secret of the client's: no engine is sent it " +
				"(line 3)"},
		{"framing", small + "limits: {forward_headers: [content-length]}",
			"limits.forward_headers[0]: reserved_name: Content-Length is the gateway's to set for each engine (line " +
				"3)"},
		{"an identity", small + "limits: {forward_headers: [X-Tenant-Id]}",
			"limits.forward_headers[0]: reserved_name: X-Tenant-Id names an internal destination or identity: a " +
				"client's is never honoured (line 3)"},
		{"a header twice", small + "limits: {profile_headers: [X-Region, x-region]}",
			`limits.profile_headers[1]: duplicate_name: "X-Region" is taken by limits.profile_headers[0] (line 3)`},
		{"too many headers", small + "limits: {profile_headers: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]}",
			"limits.profile_headers: too_many: 17 headers, at most 16 (line 3)"},
	} {
		expect(t, row.name, row.text, row.want)
	}
	for _, fine := range []string{
		"  profiles: [{use: mine}]",
		"  profiles:\n  - {when: {}, use: mine, if_none: next}\n  - use: cache-aware", // reached after none is left
		"  profiles:\n  - {when: {prompt_tokens_max: 9}, use: mine}\n" +
			"  - {when: {prompt_tokens_min: 9}, use: mine}\n  - use: mine",
		"  profiles:\n  - {when: {header: {x-region: eu}}, use: mine}\n" +
			"  - {when: {header: {x-region: us}}, use: mine}\n  - use: mine",
	} {
		parsed(t, ruled+fine)
	}
}
