package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/internal/apptest"
	"octet/internal/redistest"
)

const budgetedWorld = `
auth:
  anonymous: true
  tenants:
    - {name: acme, key_sha256: ` + keySHA + `, budget: {tokens_per_day: 200, tokens_per_month: 100000}}
limits: {ttft_timeout: 3s}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "%s", blocks: 512}]
`

// usageAnswer is the answer of GET /v1/usage.
type usageAnswer struct {
	Tenant string
	Day    struct {
		Tokens           int64
		Limit, Remaining *int64
		Resets           time.Time
	}
	Month struct {
		Tokens           int64
		Limit, Remaining *int64
	}
	Shared, Stale bool
}

func newBudgeted(t *testing.T, sets ...string) *world {
	w := newWorld(t, budgetedWorld, judgedEngines()[:1], sets...)
	w.Key = key
	return w
}

func (w *world) usage() (u usageAnswer) {
	w.T.Helper()
	if status := w.Get(w.Data+"/v1/usage", &u); status != http.StatusOK {
		w.T.Fatalf("status %d", status)
	}
	return u
}

// spendAll asks until the budget refuses, and returns that answer and how many were let through.
func (w *world) spendAll() (refused *http.Response, body []byte, through int) {
	w.T.Helper()
	for range 100 {
		resp, body := w.Post("/v1/chat/completions", hello)
		if resp.StatusCode != http.StatusOK {
			return resp, body, through
		}
		through++
	}
	w.T.Fatal("the budget never ends")
	return nil, nil, 0
}

// Used up: 429 with the time of the next day, in the header as in the message; others go on, and a dry run costs
// nothing.
func TestABudgetIsSettledByUsageAndRefusedUntilTheNextDay(t *testing.T) {
	w := newBudgeted(t)
	resp, body, through := w.spendAll()
	u := w.usage()
	tomorrow := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || time.Duration(after)*time.Second-time.Until(tomorrow) > 5*time.Second ||
		time.Until(tomorrow) > time.Duration(after)*time.Second {
		t.Errorf("Retry-After %d, the next day begins in %v", after, time.Until(tomorrow))
	}
	if resp.StatusCode != 429 || codeOf(t, body) != "quota_exceeded" ||
		!strings.Contains(string(body), tomorrow.Format(time.RFC3339)) {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	if through < 2 || u.Tenant != "acme" || *u.Day.Limit != 200 || *u.Day.Remaining != max(200-u.Day.Tokens, 0) ||
		u.Day.Tokens <= 180 || u.Month.Tokens != u.Day.Tokens || !u.Day.Resets.Equal(tomorrow) || u.Shared {
		t.Errorf("after %d answers: %+v", through, u)
	}
	page := w.Metrics()
	var counted float64
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, `octet_tenant_tokens_total{kind="prompt",tenant="acme"} `) ||
			strings.HasPrefix(line, `octet_tenant_tokens_total{kind="completion",tenant="acme"} `) {
			n, _ := strconv.ParseFloat(strings.Fields(line)[1], 64)
			counted += n
		}
	}
	if int64(counted) != u.Day.Tokens {
		t.Errorf("the metric has %v tokens, the budget %d", counted, u.Day.Tokens)
	}
	if resp, body := w.Post("/v1/route", hello); resp.StatusCode != http.StatusOK {
		t.Errorf("a dry run: status %d: %s", resp.StatusCode, body)
	}
	w.Key = ""
	if resp, body := w.Post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
		t.Errorf("another pays: status %d: %s", resp.StatusCode, body)
	}
	if status := w.Get(w.Data+"/v1/usage", nil); status != http.StatusForbidden {
		t.Errorf("without a key: status %d", status)
	}
	w.Key = "not a key"
	if status := w.Get(w.Data+"/v1/usage", nil); status != http.StatusUnauthorized {
		t.Errorf("with another key: status %d", status)
	}
}

// A prompt that is longer than the budget is told so, and no time to come back at.
func TestAPromptLongerThanItsBudgetIsToldSo(t *testing.T) {
	w := newBudgeted(t)
	long := strings.Replace(hello, "why", strings.Repeat("why ", 500), 1)
	resp, body := w.Post("/v1/chat/completions", long)
	if codeOf(t, body) != "quota_exceeded" || resp.Header.Get("Retry-After") != "" || w.usage().Day.Tokens != 0 {
		t.Errorf("%v: %s", resp.Header, body)
	}
}

// What comes by any door counts, streamed or not; what is refused or fails before an engine took it up is given back.
func TestEveryDoorCountsAndWhatFailsIsGivenBack(t *testing.T) {
	w := newBudgeted(t, "auth.tenants[0].budget.tokens_per_day=100000")
	used := int64(0)
	for _, stream := range []string{"false", "true"} {
		for path, body := range map[string]string{
			"/v1/chat/completions": `{"model":"debug","max_tokens":5,"messages":[{"role":"user","content":"x"}]`,
			"/v1/completions":      `{"model":"debug","max_tokens":5,"prompt":"x"`,
			"/v1/messages":         `{"model":"debug","max_tokens":5,"messages":[{"role":"user","content":"x"}]`,
			"/v1/responses":        `{"model":"debug","max_output_tokens":5,"input":"x"`,
		} {
			if resp, answer := w.Post(path, body+`,"stream":`+stream+"}"); resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", path, answer)
			}
			eventually(t, path+" counts", func() bool { return w.usage().Day.Tokens > used })
			if n := w.usage().Day.Tokens - used; n < 6 || n > 60 {
				t.Errorf("%s, stream %s: %d tokens", path, stream, n)
			}
			used = w.usage().Day.Tokens
		}
	}
	w.Fault("debug-0", `{"kind":"die_before_headers","times":100}`)
	for _, body := range []string{hello, `{"model":"none"}`, strings.Replace(hello, "12", "99999999", 1)} {
		if resp, answer := w.Post("/v1/chat/completions", body); resp.StatusCode == http.StatusOK {
			t.Errorf("%s", answer)
		}
	}
	// a prompt that an engine had taken up before it died was worked on: it is charged, once
	if n := w.usage().Day.Tokens - used; n > 60 {
		t.Errorf("failures cost %d tokens", n)
	}
}

// What was used is kept over a restart, and a torn file is put aside.
func TestBudgetsSurviveARestartAndATornFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "budgets.json")
	w := newBudgeted(t, "auth.state="+file)
	_, _, _ = w.spendAll()
	used := w.usage().Day.Tokens
	w.Stop()
	<-w.Ended
	w.Ended <- nil // for the end of the test
	w.Close()
	again := newBudgeted(t, "auth.state="+file)
	if u := again.usage(); u.Day.Tokens != used || u.Month.Tokens != used {
		t.Errorf("%d before the restart, after it %+v", used, u)
	}
	if _, _, through := again.spendAll(); through != 0 {
		t.Errorf("%d were let through after the restart", through)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(t.TempDir(), "torn.json")
	if err := os.WriteFile(torn, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	third := newBudgeted(t, "auth.state="+torn)
	if u := third.usage(); u.Day.Tokens != 0 {
		t.Errorf("of a torn file: %+v", u)
	}
	if kept, err := os.ReadFile(torn + ".bad"); err != nil || string(kept) != string(text[:len(text)/2]) {
		t.Errorf("the torn file is not put aside: %v", err)
	}
}

// Two gateways and one Redis: what one has let through the other has, and a restart loses nothing. Without the Redis
// each goes on by its part, and says that it does.
func TestGatewaysShareTheirTenantsBudgets(t *testing.T) {
	server := redistest.Start(t)
	sets := []string{"auth.shared.addr=" + server.Addr, "auth.shared.timeout=2s",
		"auth.tenants[0].budget.tokens_per_day=400"}
	first, second := newBudgeted(t, sets...), newBudgeted(t, sets...)
	if resp, body := first.Post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
		t.Fatalf("%s", body)
	}
	one := first.usage().Day.Tokens
	if u := second.usage(); u.Day.Tokens != one || !u.Shared || u.Stale {
		t.Errorf("%d at one, at the other %+v", one, u)
	}
	server.Kill()
	if resp, body := second.Post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
		t.Errorf("without the redis: %s", body)
	}
	if u := second.usage(); u.Day.Tokens != 2*one || !u.Stale {
		t.Errorf("without the redis: %+v", u)
	}
	server.Restart(true)
	eventually(t, "the count of all is back", func() bool {
		return second.usage().Day.Tokens == 2*one && first.usage().Day.Tokens == 2*one && !first.usage().Stale
	})
	_, _, _ = first.spendAll()
	if _, _, through := second.spendAll(); through > 1 {
		t.Errorf("%d more at the other", through)
	}
}

// A tenant without a budget has its use counted here as a request ends, and in the Redis some time later, at the latest
// as the gateway ends.
func TestTheRedisIsNotAskedForATenantWithoutABudget(t *testing.T) {
	server := redistest.Start(t)
	sets := []string{"auth.shared.addr=" + server.Addr, "auth.shared.timeout=2s",
		"auth.tenants[0].budget.tokens_per_day=0", "auth.tenants[0].budget.tokens_per_month=0"}
	first, second := newBudgeted(t, sets...), newBudgeted(t, sets...)
	asked := func() string {
		keys, err := server.Do("KEYS", "*budget:*")
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	resp, body := first.Post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s", body)
	}
	eventually(t, "it is counted", func() bool {
		return strings.Contains(first.Metrics(), `octet_tenant_tokens_total{kind="completion",tenant="acme"}`)
	})
	if keys := asked(); keys != "*0" { // so many
		t.Errorf("the redis has %s", keys)
	}
	first.Close()
	if u := second.usage(); u.Day.Tokens == 0 || !u.Shared || u.Stale {
		t.Errorf("at the other, after the first has ended: %+v", u)
	}
}

// A reload changes a budget at once, and keeps what was used of it; a tenant that is taken out and put back has used
// what it had.
func TestAReloadKeepsWhatWasUsed(t *testing.T) {
	w := newBudgeted(t)
	_, _, _ = w.spendAll()
	used := w.usage().Day.Tokens
	apply := func(sets ...string) {
		t.Helper()
		cfg := *w.App.Config()
		cfg.Auth.Tenants = append(cfg.Auth.Tenants[:0:0], cfg.Auth.Tenants...)
		switch sets[0] {
		case "raise":
			cfg.Auth.Tenants[0].Budget.TokensPerDay = 1000
		case "remove":
			cfg.Auth.Tenants[0].Name, cfg.Auth.Tenants[0].KeySHA256 = "other", strings.Repeat("0", 64)
		case "back":
			cfg.Auth.Tenants[0].Name, cfg.Auth.Tenants[0].KeySHA256 = "acme", apptest.KeySHA
		}
		if err := w.App.Apply(t.Context(), &cfg); err != nil {
			t.Fatal(err)
		}
	}
	apply("raise")
	if resp, body := w.Post("/v1/chat/completions", hello); resp.StatusCode != http.StatusOK {
		t.Errorf("with a larger budget: %s", body)
	}
	used = w.usage().Day.Tokens
	w.Fault("debug-0", `{"kind":"slow","k":100,"times":1}`)
	open := w.Ask(t.Context(), "/v1/chat/completions", strings.Replace(hello, `{`, `{"stream":true,`, 1))
	apply("remove")
	if status := w.Get(w.Data+"/v1/usage", nil); status != http.StatusUnauthorized {
		t.Errorf("without the tenant: status %d", status)
	}
	if s := readStream(open.Body); !s.done || !s.clean {
		t.Errorf("its stream does not end well: %+v", s)
	}
	apply("back")
	eventually(t, "the stream counts", func() bool { return w.usage().Day.Tokens > used })
}
