package app_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"octet/app"
	"octet/config"
	"octet/gateway/api"
	"octet/gateway/receipt"
	"octet/internal/apptest"
	"octet/routing/events"
	"octet/routing/plugins"
)

type cfg = config.Config

// What a JWKS answers with.
const (
	jwksGood = iota
	jwksDown
	jwksHuge
	jwksSlow
)

// keyServer is an issuer that publishes several keys, or misbehaves.
type keyServer struct {
	*httptest.Server
	answers atomic.Int32
	text    atomic.Pointer[string] // the JWKS

	keys         []ed25519.PrivateKey // the last one signs
	published    []string
	audience     string
	begins, life time.Duration // of tokens, from now on
}

func newKeyServer(t *testing.T) *keyServer {
	s := &keyServer{audience: "octet", life: time.Hour}
	s.rotate(false)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch s.answers.Load() {
		case jwksDown:
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		case jwksHuge:
			_, _ = w.Write(bytes.Repeat([]byte(" "), 10<<20))
		case jwksSlow:
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, *s.text.Load())
	}))
	t.Cleanup(s.Close)
	return s
}

// rotate has tokens signed by another key, which is published instead of the others, or beside them.
func (s *keyServer) rotate(beside bool) {
	public, key, _ := ed25519.GenerateKey(rand.Reader)
	s.keys = append(s.keys, key)
	if !beside {
		s.published = nil
	}
	s.published = append(s.published, fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","kid":"k%d","x":%q}`, len(s.keys),
		base64.RawURLEncoding.EncodeToString(public)))
	text := `{"keys":[` + strings.Join(s.published, ",") + `]}`
	s.text.Store(&text)
}

// sign returns a token of a tenant that is good from a time to another, counted from now.
func (s *keyServer) sign(tenant string, begins, ends time.Duration) string {
	now := time.Now()
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{"iss": "https://id.example.com", "aud": s.audience,
		"sub": tenant, "nbf": now.Add(begins).Unix(), "exp": now.Add(ends).Unix()})
	t.Header["kid"] = fmt.Sprint("k", len(s.keys))
	text, _ := t.SignedString(s.keys[len(s.keys)-1])
	return text
}

// jwtPair is a gateway whose tenants come by tokens, before an engine that holds answers until it is told.
type jwtPair struct {
	*world
	issuer *keyServer
	engine *holdingEngine
	old    map[string]string // tokens before what happens, by tenant
	tokens []string          // all
	copies string            // the file of comparisons
	log    lockedBuffer

	running  sync.WaitGroup
	mu       sync.Mutex
	receipts map[string]string // of what each tenant has begun; guarded by mu
	paid     map[string]int    // answers, by tenant; guarded by mu
}

const jwtPairWorld = `
auth:
  anonymous: false
  jwt: {jwks: "%s", issuer: "https://id.example.com", audience: octet, unknown_after: 100ms, timeout: 300ms, leeway: %s}
  tenants: [%s]
shadow: {file: "%s", stream: ""}
router: {detectors: false, stickiness: {margin: 0.1, per_1k_tokens: 0}}
specialists:
  - {name: debug, tokenizer: builtin, replicas: [{url: "%[5]s/one", engine: openai, blocks: 4096}]}
  - {name: systems, tokenizer: builtin, replicas: [{url: "%[5]s/two", engine: openai, blocks: 4096}]}
`

func newJWTPair(t *testing.T, event *jwtEvent) *jwtPair {
	t.Helper()
	p := &jwtPair{issuer: newKeyServer(t), engine: newHoldingEngine(t), old: map[string]string{},
		copies: filepath.Join(t.TempDir(), "copies.jsonl"), receipts: map[string]string{}, paid: map[string]int{}}
	if event.life != 0 {
		p.issuer.life = event.life
		p.issuer.begins = min(0, event.life-time.Hour)
	}
	tenants := []string{"{name: other}"}
	for _, s := range jwtSurfaces {
		rate := ""
		if s.name == "rate" {
			rate = ", rate: {requests_per_second: 0.001, burst: 1}"
		}
		tenants = append(tenants, "{name: "+s.name+rate+"}")
	}
	text := fmt.Sprintf(jwtPairWorld, p.issuer.URL, event.leeway, strings.Join(tenants, ", "), p.copies, p.engine.URL)
	base := &apptest.World{T: t, Local: events.NewLocal(1 << 12)}
	c, err := config.Parse("pair.yaml", []byte(text), config.Options{Presets: plugins.Presets(), Sets: base.Sets()})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p.world = &world{base.With(c, app.Options{Log: log})}
	t.Cleanup(func() {
		p.engine.release()
		p.running.Wait()
	})
	doubting(t, p.App)
	eventually(t, "the issuer's keys are known", func() bool { s := p.state(); return s != nil && s.Keys == 1 })
	p.old["other"] = p.fresh("other")
	for _, s := range jwtSurfaces {
		p.old[s.name] = p.fresh(s.name)
	}
	p.issuer.begins, p.issuer.life = 0, time.Hour
	return p
}

func (p *jwtPair) state() *api.IssuerState {
	var state api.EnsembleState
	p.Get(p.Admin+"/admin/state", &state)
	return state.JWKS
}

// fresh returns a token that the issuer gives now.
func (p *jwtPair) fresh(tenant string) string {
	token := p.issuer.sign(tenant, p.issuer.begins, p.issuer.life)
	p.tokens = append(p.tokens, token)
	return token
}

func (p *jwtPair) before(tenant string) string { return p.old[tenant] }

// ask sends a request by a token.
func (p *jwtPair) ask(token, method, path, body string, headers ...string) (*http.Response, []byte) {
	return askAs(p.T, token, method, p.Data+path, body, headers...)
}

// askAs sends a request by a token or a key, and reads the answer. What fails is an error of the test, which goes on.
func askAs(t testing.TB, token, method, url, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return new(http.Response), nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return new(http.Response), nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s: %v", url, err)
	}
	return resp, answer
}

func (p *jwtPair) chat(token, body string, headers ...string) (*http.Response, []byte) {
	return p.ask(token, "POST", "/v1/chat/completions", body, headers...)
}

// chatAs has a tenant's request answered.
func (p *jwtPair) chatAs(tenant, body string, headers ...string) {
	p.T.Helper()
	resp, answer := p.chat(p.old[tenant], body, headers...)
	if resp.StatusCode != http.StatusOK {
		p.T.Errorf("%s: status %d: %s", tenant, resp.StatusCode, answer)
	}
	if strings.Contains(body, `"stream":true`) && !readStream(bytes.NewReader(answer)).done {
		p.T.Errorf("%s: not whole: %s", tenant, answer)
	}
	p.mu.Lock()
	p.receipts[tenant] = resp.Header.Get("X-Receipt-Id")
	p.mu.Unlock()
	p.pays(tenant, resp)
}

// hold begins a request whose answer is held.
func (p *jwtPair) hold(tenant, body string, headers ...string) {
	p.running.Go(func() { p.chatAs(tenant, body, headers...) })
}

// underWay waits until all that is to be held is: three answers and a copy.
func (p *jwtPair) underWay() {
	p.T.Helper()
	eventually(p.T, "three answers and a copy are held", func() bool { return p.engine.held.Load() == 4 })
}

// release has what is held end.
func (p *jwtPair) release() {
	p.engine.release()
	p.running.Wait()
}

func (p *jwtPair) receipt(tenant string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.receipts[tenant]
}

// pays notes that a tenant has had an answer, if it is one of an engine.
func (p *jwtPair) pays(tenant string, resp *http.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if resp.StatusCode == http.StatusOK && resp.Request.URL.Path == "/v1/chat/completions" {
		p.paid[tenant]++
	}
}

// outcomeOf is the status, and the code of an error.
func outcomeOf(resp *http.Response, body []byte) string {
	var e errorBody
	if json.Unmarshal(body, &e) == nil && e.Error.Code != "" {
		return fmt.Sprint(resp.StatusCode, " ", e.Error.Code)
	}
	return fmt.Sprint(resp.StatusCode)
}

// until waits for a status of a token.
func (p *jwtPair) until(status int, token string) {
	p.T.Helper()
	eventually(p.T, fmt.Sprint("status ", status), func() bool {
		resp, _ := p.ask(token, "GET", "/v1/models", "")
		return resp.StatusCode == status
	})
}

// lose has the JWKS answer otherwise, to be asked for a key that is not known.
func (p *jwtPair) lose(how int32) {
	p.T.Helper()
	p.issuer.answers.Store(how)
	p.issuer.rotate(true)
	token := p.fresh("unary")
	eventually(p.T, "the JWKS could not be read", func() bool {
		p.ask(token, "GET", "/v1/models", "")
		return p.state().Error != ""
	})
}

func (p *jwtPair) apply(change func(*cfg)) {
	p.T.Helper()
	next := *p.App.Config()
	change(&next)
	if err := p.App.Apply(p.T.Context(), &next); err != nil {
		p.T.Fatal(err)
	}
}

// remove has all tenants but the other one removed.
func (p *jwtPair) remove() {
	p.apply(func(c *cfg) { c.Auth.Tenants = slices.Clone(c.Auth.Tenants[:1]) })
}

// exhaust has all tenants but the other one have used up their day.
func (p *jwtPair) exhaust() {
	p.apply(func(c *cfg) {
		c.Auth.Tenants = slices.Clone(c.Auth.Tenants)
		for i := range c.Auth.Tenants[1:] {
			c.Auth.Tenants[1+i].Budget.TokensPerDay = 1
		}
	})
}

// settled waits until nothing is held any more, and compares what tenants are charged with what they have had: a copy
// is nobody's to pay.
func (p *jwtPair) settled() {
	p.T.Helper()
	eventually(p.T, "nothing is held any more", p.Quiet)
	eventually(p.T, "the copy was compared", func() bool { ex, _, _ := recordsOf(p.T, p.copies); return len(ex) > 0 })
	charged := map[string]int{}
	for line := range strings.Lines(p.Metrics()) {
		var tenant, kind string
		var n int
		line = strings.NewReplacer(`"`, " ", "{", " ", "}", " ", ",", " ").Replace(line)
		got, _ := fmt.Sscanf(line, "octet_tenant_tokens_total kind= %s tenant= %s %d", &kind, &tenant, &n)
		if got == 3 {
			charged[tenant] += n
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for tenant, answers := range p.paid {
		if charged[tenant] != answers*answerTokens {
			p.T.Errorf("%s is charged %d tokens of %d answers", tenant, charged[tenant], answers)
		}
	}
	for _, tenant := range []string{"stream", "unary", "key"} {
		var r receipt.Receipt
		if p.Get(p.Admin+"/admin/receipts/"+p.receipts[tenant], &r); r.Result.Status != 200 || !r.Result.Done {
			p.T.Errorf("%s: its receipt says %+v", tenant, r.Result)
		}
	}
}

// nothingTold fails if anything of a token is in the log, in a receipt or in what operators see.
func (p *jwtPair) nothingTold() {
	p.T.Helper()
	told := p.log.String()
	for _, path := range []string{"/admin/state", "/metrics", "/admin/requests",
		"/admin/receipts/" + p.receipt("verdict")} {
		resp, err := http.Get(p.Admin + path)
		if err != nil {
			p.T.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			p.T.Error(err)
		}
		resp.Body.Close()
		told += string(text)
	}
	for _, token := range p.tokens {
		parts := strings.Split(token, ".")
		if strings.Contains(told, parts[1]) || strings.Contains(told, parts[2]) {
			p.T.Errorf("a token is told: %s", token)
		}
	}
}

const (
	plainChat = `{"model":"debug","max_tokens":8,"messages":[{"role":"user","content":"unsure 0.70"}]}`
	// surely is a question that is long enough to be read alone
	surely       = "a question that is long enough to be read alone, whatever was said before it in here: unsure "
	answerTokens = 10 // prompt and answer, as the engine counts
)

// holding is a question whose answer by a specialist is held.
func holding(specialist string) string {
	return strings.NewReplacer(`"debug"`, `"octet"`, "unsure", "HOLD-"+specialist+" unsure").Replace(plainChat)
}

// holdingEngine answers as an engine does, and holds some of its answers until it is released.
type holdingEngine struct {
	*httptest.Server
	held    atomic.Int32
	release func()
}

func newHoldingEngine(t *testing.T) *holdingEngine {
	free := make(chan struct{})
	e := &holdingEngine{release: sync.OnceFunc(func() { close(free) })}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct{ Model string }
		if json.Unmarshal(body, &asked) != nil || asked.Model == "" {
			return
		}
		hold := func() {
			if bytes.Contains(body, []byte("HOLD-"+asked.Model)) {
				e.held.Add(1)
				<-free
			}
		}
		const usage = `"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}`
		if !bytes.Contains(body, []byte(`"stream":true`)) {
			hold()
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"a b c"},`+
				`"finish_reason":"stop"}],%s}`, usage)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		hold()
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" b\"}}]}\n\n")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" c\"},\"finish_reason\":\"stop\"}]}"+
			"\n\ndata: {\"choices\":[],%s}\n\ndata: [DONE]\n\n", usage)
	}))
	t.Cleanup(func() {
		e.release()
		e.Close()
	})
	return e
}
