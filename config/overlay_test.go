package config

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const layered = `
limits: {drain: 1s, messages: 10}
x-common: &common {scheduler: {max_running: 3, max_waiting: 4}, labels: &l {zone: a}}
specialists:
  - {<<: *common, name: a, replicas: [{url: http://h:1, labels: *l}]}
  - {<<: *common, name: b, replicas: [{url: http://h:2, labels: *l}]}
intents: {build-fix: {specialist: a}}
events: {redis: {addr: "h:1"}}
`

// An override changes its key and nothing else: not a sibling, not another use of the same anchor.
func TestOverridesChangeOneKey(t *testing.T) {
	text := strings.ReplaceAll(strings.ReplaceAll(layered,
		"scheduler: {max_running: 3, max_waiting: 4}, labels: &l {zone: a}",
		"scheduler: {max_running: 3, max_waiting: 4}"), "labels: *l", "labels: {zone: a}")
	for _, row := range []struct {
		name, set, variable string
		holds               func(*Config) bool
	}{
		{"a key that is there", "limits.drain=7s", "OCTET_LIMITS__DRAIN=7s",
			func(c *Config) bool { return c.Limits.Drain == 7*time.Second && c.Limits.Messages == 10 }},
		{"a key that is not", "limits.receipts=5", "OCTET_LIMITS__RECEIPTS=5",
			func(c *Config) bool { return c.Limits.Receipts == 5 && c.Limits.Messages == 10 }},
		{"a section that is not", "fleet.breaker.failures=9", "OCTET_FLEET__BREAKER__FAILURES=9",
			func(c *Config) bool { return c.Fleet.Breaker.Failures == 9 && c.Fleet.Breaker.Probes == 1 }},
		{"an optional section that is not", "events.nats.url=nats://n:1", "OCTET_EVENTS__NATS__URL=nats://n:1",
			func(c *Config) bool { return c.Events.NATS.URL == "nats://n:1" && c.Events.NATS.Stream == "OCTET_KV" }},
		{"an item of a list", "specialists[1].block_size=8", "OCTET_SPECIALISTS__1__BLOCK_SIZE=8",
			func(c *Config) bool { return c.Specialists[1].BlockSize == 8 && c.Specialists[0].BlockSize == 16 }},
		{"a part of what is merged", "specialists[1].scheduler.max_running=9",
			"OCTET_SPECIALISTS__1__SCHEDULER__MAX_RUNNING=9", func(c *Config) bool {
				return c.Specialists[1].Scheduler == Scheduler{MaxRunning: 9, MaxWaiting: 4, RedoShare: 0.03,
					AdapterOvertakes:     4,
					ChunkedPrefillTokens: 2048} && c.Specialists[0].Scheduler.MaxRunning == 3
			}},
		{"one item more", "specialists[0].replicas[1].url=http://h:9",
			"OCTET_SPECIALISTS__0__REPLICAS__1__URL=http://h:9",
			func(c *Config) bool { return c.Specialists[0].Replicas[1].Name == "a-1" }},
		{"a free key with a dash", "intents.build-fix.priority_floor=3", "OCTET_INTENTS__BUILD_FIX__PRIORITY_FLOOR=3",
			func(c *Config) bool { return c.Intents["build-fix"].PriorityFloor == 3 }},
		{"text that looks like a number", "admin.token=1234567890123456", "OCTET_ADMIN__TOKEN=1234567890123456",
			func(c *Config) bool { return c.Admin.Token == "1234567890123456" }},
		{"text with YAML's signs, taken whole", "admin.token=a: #b, and so on", "OCTET_ADMIN__TOKEN=a: #b, and so on",
			func(c *Config) bool { return c.Admin.Token == "a: #b, and so on" }},
		{"quoted text", `admin.token="x\ty, and so on yet"`, `OCTET_ADMIN__TOKEN="x\ty, and so on yet"`,
			func(c *Config) bool { return c.Admin.Token == "x\ty, and so on yet" }},
		{"a variable", "admin.token=${SECRET}", "OCTET_ADMIN__TOKEN=${SECRET}",
			func(c *Config) bool { return c.Admin.Token == "s3 of twenty bytes ." }},
		{"nothing", "shadow.stream=", "OCTET_SHADOW__STREAM=", func(c *Config) bool { return c.Shadow.Stream == "" }},
		{"null is the default", "limits.drain=null", "OCTET_LIMITS__DRAIN=null",
			func(c *Config) bool { return c.Limits.Drain == 30*time.Second }},
		{"null turns a section off", "events.redis=null", "OCTET_EVENTS__REDIS=~",
			func(c *Config) bool { return c.Events.Redis == nil }},
		{"a key of the top", "hash_seed=0x10", "OCTET_HASH_SEED=0x10",
			func(c *Config) bool { return c.HashSeed == 16 }},
	} {
		for how, o := range map[string]Options{"--set": {Sets: []string{row.set},
			Environ: []string{"SECRET=s3 of twenty bytes ."}},
			"environment": {Environ: []string{row.variable, "SECRET=s3 of twenty bytes ."}}} {
			c, err := Parse("test.yaml", []byte(text), o)
			if err != nil {
				t.Errorf("%s by %s: %v", row.name, how, err)
			} else if !row.holds(c) {
				t.Errorf("%s by %s does not hold: %+v", row.name, how, c)
			}
		}
	}
}

func TestOneUseOfAnAnchorIsOverriddenAlone(t *testing.T) {
	text :=
		"x-c: &c {max_running: 3}\nspecialists:\n- {name: a, scheduler: *c, replicas: [{url: http://h:1}]}\n- {name: " +
			"b, scheduler: *c, replicas: [{url: http://h:2}]}\n"
	c, err := Parse("test.yaml", []byte(text), Options{Sets: []string{"specialists[0].scheduler.max_running=5"}})
	if err != nil || c.Specialists[0].Scheduler.MaxRunning != 5 || c.Specialists[1].Scheduler.MaxRunning != 3 {
		t.Fatalf("%+v, %v", c, err)
	}
}

func TestSetWinsOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	o := Options{Environ: []string{"OCTET_LIMITS__DRAIN=2s", "OCTET_LIMITS__MESSAGES=20", "OCTET_ORDINARY=x",
		"OCTET_DEMO_PORT=1"}, Sets: []string{"limits.drain=3s", "limits.drain=4s"}}
	c, err := Parse("test.yaml", []byte(small+"limits: {drain: 1s, messages: 10, receipts: 30}"), o)
	if err != nil || c.Limits.Drain != 4*time.Second || c.Limits.Messages != 20 || c.Limits.Receipts != 30 {
		t.Fatalf("%+v, %v", c, err)
	}
}

//nolint:lll // raw text that cannot be broken
func TestOverridesThatCannotBeAppliedAreNamed(t *testing.T) {
	for _, row := range []struct{ name, set, variable, want string }{
		{name: "no value", set: "limits.drain",
			want: "limits.drain: bad_override: want path=value with a path such as specialists[0].block_size (set by " +
				"--set limits.drain)"},
		{name: "a line end", set: "a\nb",
			want: `a\nb: bad_override: want path=value with a path such as specialists[0].block_size (set by --set a\nb)`},
		{name: "no path", set: "=5",
			want: ".: bad_override: want path=value with a path such as specialists[0].block_size (set by --set )"},
		{name: "a path with a hole", set: "limits..drain=5s",
			want: "limits..drain: bad_override: want path=value with a path such as specialists[0].block_size (set " +
				"by --set limits..drain)"},
		{name: "an index that is none", set: "specialists[x].name=a",
			want: "specialists[x].name: bad_override: want path=value with a path such as specialists[0].block_size " +
				"(set by --set specialists[x].name)"},
		{name: "an open index", set: "specialists[0.name=a",
			want: "specialists[0.name: bad_override: want path=value with a path such as specialists[0].block_size " +
				"(set by --set specialists[0.name)"},
		{name: "an unknown key", set: "limits.drian=5s",
			want: `limits.drian: unknown_key: there is no key "drian" here; did you mean "drain"? (set by --set limits.drian)`},
		{name: "a value out of range", set: "limits.json_depth=0",
			want: "limits.json_depth: out_of_range: 0 is not between 2 and 1000 (set by --set limits.json_depth)"},
		{name: "a value of another type", set: "limits.messages=many",
			want: "limits.messages: wrong_type: want a whole number, found text (set by --set limits.messages)"},
		{name: "a value for a section", set: "limits=5",
			want: "limits: wrong_type: want a mapping of keys, found a number (set by --set limits)"},
		{name: "far behind a list", set: "specialists[7].name=a",
			want: "specialists[7]: bad_override: the list has 1 items; the next one is [1] (set by --set " +
				"specialists[7].name)"},
		{name: "an index into no list", set: "specialists[0][0]=1",
			want: "specialists[0][0]: bad_override: this is no list (set by --set specialists[0][0])"},
		{name: "a list for a section", set: "limits[0]=1",
			want: "limits: wrong_type: want a mapping of keys, found a list (set by --set limits[0])"},
		{name: "a key under a value", set: "specialists[0].name.x=1",
			want: "specialists[0].name.x: bad_override: this is no mapping (set by --set specialists[0].name.x)"},
		{name: "half a quote", set: "admin.token='x",
			want: "admin.token: bad_override: the value's quotes do not match (set by --set admin.token)"},
		{name: "an unset variable", set: "admin.token=${NOPE}",
			want: "admin.token: unset_variable: ${NOPE} is not set in the environment (set by --set admin.token)"},
		{name: "an item that is not whole", set: "specialists[1].name=b",
			want: "specialists[1].replicas: missing: replicas is required (set by --set specialists[1].name)"},

		{name: "a variable of no key", variable: "OCTET_LIMITS__DRIAN=5s",
			want: `OCTET_LIMITS__DRIAN: unknown_key: this variable means no key; did you mean "OCTET_LIMITS__DRAIN"? (set by OCTET_LIMITS__DRIAN)`},
		{name: "a variable in small letters", variable: "OCTET_limits__drain=5s",
			want: `OCTET_limits__drain: unknown_key: this variable means no key (set by OCTET_limits__drain)`},
		{name: "a variable of no item", variable: "OCTET_SPECIALISTS__FIRST__NAME=a",
			want: `OCTET_SPECIALISTS__FIRST__NAME: bad_override: "FIRST" is not an index; a list's items are counted from 0 (set by OCTET_SPECIALISTS__FIRST__NAME)`},
		{name: "a variable of no free key", variable: "OCTET_INTENTS__POEM__PRIORITY_FLOOR=1",
			want: `OCTET_INTENTS__POEM__PRIORITY_FLOOR: unknown_key: this variable means no key; there are none (set by OCTET_INTENTS__POEM__PRIORITY_FLOOR)`},
		{name: "a variable under a value", variable: "OCTET_LIMITS__DRAIN__X=1",
			want: `OCTET_LIMITS__DRAIN__X: unknown_key: OCTET_LIMITS__DRAIN is a value, nothing is under it (set by OCTET_LIMITS__DRAIN__X)`},
		{name: "a variable of a bad value", variable: "OCTET_LOG__LEVEL=loud",
			want: `log.level: bad_value: "loud" is not one of debug, info, warn, error (set by OCTET_LOG__LEVEL)`},
	} {
		o := Options{Presets: presets}
		if row.set != "" {
			o.Sets = []string{row.set}
		} else {
			o.Environ = []string{row.variable}
		}
		_, err := Parse("test.yaml", []byte(small), o)
		var faults *Faults
		if !errors.As(err, &faults) || faults.Error() != row.want {
			t.Errorf("%s:\n got %v\nwant %s", row.name, err, row.want)
		}
	}
}

func TestFaultsOfOverridesComeAfterThoseOfTheFile(t *testing.T) {
	_, err := Parse("test.yaml", []byte(small+"log: {level: x}"),
		Options{Sets: []string{"limits.drain=1", "fleet.nope=1"}, Environ: []string{"OCTET_METRICS__MAX_SERIES=0"}})
	var codes []string
	var faults *Faults
	if errors.As(err, &faults) {
		for _, f := range faults.List {
			codes = append(codes, f.Path+" "+f.Code)
		}
	}
	want := "log.level bad_value,metrics.max_series out_of_range,limits.drain bad_duration,fleet.nope unknown_key"
	if got := strings.Join(codes, ","); got != want {
		t.Errorf("%s", got)
	}
	if faults.List[0].Line != 3 || faults.List[3].Line != 0 {
		t.Errorf("%+v", faults.List)
	}
}
