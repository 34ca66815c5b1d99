package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"octet/app/pipeline"
	"octet/config"
	"octet/routing/plugins"
)

// faultsOf returns what `octet check` says of the profiles of a configuration without other faults.
func faultsOf(t *testing.T, text string) (said []string) {
	t.Helper()
	cfg, err := config.Parse("test.yaml", []byte(text), config.Options{Presets: plugins.Presets()})
	if err != nil {
		t.Fatal(err)
	}
	var all *config.Faults
	if err := pipeline.Faults("test.yaml", cfg); err == nil {
		return nil
	} else if !errors.As(err, &all) {
		t.Fatal(err)
	}
	for _, f := range all.List {
		said = append(said, fmt.Sprintf("%s: %s: %s", f.Path, f.Code, f.Message))
	}
	return said
}

// expect checks what is said of each text; "" is nothing.
func expect(t *testing.T, text string, want ...string) {
	t.Helper()
	if got := faultsOf(t, text); !slices.Equal(got, want) {
		t.Errorf("%s\nfaults:\n%s\nwant:\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// coder is a specialist, and more keys of it may follow.
const coder = "specialists:\n- name: coder\n  replicas: [{url: http://h:1}]\n"

// DYN-13: a profile that serves only requests which name a replica is a fault where no caller may name one.
func TestAProfileForNamedReplicasNeedsACallerThatMayName(t *testing.T) {
	const (
		own     = "profiles: {mine: {filter: [health], pick: direct}}\n"
		fixed   = "profiles: {mine: {filter: [health], pick: {direct: {replica: coder-0}}}}\n"
		rules   = coder + "  profiles:\n  - {when: {priority_min: 5}, use: direct, if_none: next}\n  - use: default\n"
		legs    = coder + "  workflow: disaggregated\n  disaggregation: {decode_profile: direct}\n"
		refused = " serves only requests that name a replica, and no caller may: no tenant has may_direct, and there " +
			"is no admin.token"
	)
	tenants := func(may bool) string {
		return fmt.Sprintf("auth: {tenants: [{name: a, key_sha256: %s, may_direct: %v}]}\n", strings.Repeat("ab", 32),
			may)
	}
	expect(t, coder+"  profile: direct\n", "specialists[0].profile: conflict: direct"+refused)
	expect(t, tenants(false)+coder+"  profile: direct\n", "specialists[0].profile: conflict: direct"+refused)
	expect(t, own+coder+"  profile: mine\n", "specialists[0].profile: conflict: mine"+refused)
	expect(t, rules, "specialists[0].profiles[0].use: conflict: direct"+refused)
	expect(t, legs, "specialists[0].disaggregation.decode_profile: conflict: direct"+refused)
	expect(t, tenants(true)+coder+"  profile: direct\n")
	expect(t, "admin: {token: an operator's sesame}\n"+rules)
	expect(t, fixed+coder+"  profile: mine\n")
	expect(t, own+coder) // that is not used
}

// GAIE-04: a header that a plugin is to read, and that plugins do not see, is a fault of the profile.
func TestAHeaderThatPluginsDoNotSeeIsAFault(t *testing.T) {
	const sticky = "profiles:\n  mine:\n    prepare: [{session-key: {header: x-talk}}]\n    filter: [health]\n" +
		"    pick: session\n" + coder + "  profile: mine\n"
	const fault = "profiles.mine.prepare[0]: invalid_parameter: session-key header is X-Talk, which " +
		"limits.profile_headers does not list: plugins see no other header"
	expect(t, sticky, fault+" (line 3)")
	expect(t, "limits: {profile_headers: [X-Region]}\n"+sticky, fault+" (line 4)")
	expect(t, "limits: {profile_headers: [X-Region, X-TALK]}\n"+sticky)
}
