// Package e2e starts the real binary and talks to it over TCP, as its users do.
package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"octet/internal/await"
	"octet/internal/program"
	"octet/internal/redistest"
)

var binary string

func TestMain(m *testing.M) {
	if script := os.Getenv(inNamespace); script != "" {
		panic(runDocument(script)) // it returns where it has failed alone
	}
	dir, err := os.MkdirTemp("", "octet-e2e-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "octet")
	if err := program.Build(context.Background(), binary); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// running is an octet that a test has started.
type running struct {
	*program.Program
	t testing.TB
}

func start(t testing.TB, args ...string) *running {
	t.Helper()
	p, err := program.Start(binary, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return &running{p, t}
}

func (p *running) output() string { return p.Output() }

// await returns the submatches of the first match of pattern in the program's output.
func (p *running) await(pattern string) []string {
	p.t.Helper()
	m, err := p.Await(pattern, 30*time.Second)
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// stop sends a signal and returns the exit code.
func (p *running) stop(s os.Signal) int {
	p.t.Helper()
	_ = p.Signal(s)
	return p.code()
}

func (p *running) code() int {
	p.t.Helper()
	code, err := p.Code(60 * time.Second)
	if err != nil {
		p.t.Fatalf("%v:\n%s", err, p.output())
	}
	return code
}

func engine(t testing.TB, model string, more ...string) string {
	args := append([]string{"engine", "--listen", "127.0.0.1:0", "--model", model, "--name", model + "-0", "--step",
		"2ms", "--blocks", "512"}, more...)
	return start(t, args...).await(`(http://127\.0\.0\.1:\d+)`)[1]
}

const gatewayYAML = `
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
limits: {drain: 20s}
fleet: {probe_interval: 100ms}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "%s"}]
`

// gateway starts octet serve and returns it with its data and admin URLs and its configuration's path.
func gateway(t testing.TB, yaml string) (p *running, data, admin, path string) {
	path = filepath.Join(t.TempDir(), "octet.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, "serve", "--config", path)
	m := p.await(`msg=serving data=(\S+) admin=(\S+)`)
	return p, "http://" + m[1], "http://" + m[2], path
}

func post(t testing.TB, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer)
}

const ask = `{"model":"octet","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"hello"}]}`

// MEGA-04, MEGA-05
func TestTheDemoPrintsLinesThatWork(t *testing.T) {
	p := start(t, "demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--step", "1ms")
	p.await("Stop with Ctrl-C")
	lines := regexp.MustCompile(`(?m)^\s+curl (.*)$`).FindAllStringSubmatch(p.output(), -1)
	if len(lines) != 3 {
		t.Fatalf("%d curl lines in\n%s", len(lines), p.output())
	}
	for i, want := range []string{`"delta"`, "X-Specialist: build", `"specialist":"template"`} {
		if got := curl(t, lines[i][1]); !strings.Contains(got, want) {
			t.Errorf("line %d: no %s in\n%s", i+1, want, got)
		}
	}
	if code := p.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.output())
	}
}

// curl does what the printed command does: options, single-quoted words, one URL. It returns head and body.
func curl(t *testing.T, line string) string {
	t.Helper()
	words := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1)
	var url, body string
	header := http.Header{}
	for i := 0; i < len(words); i++ {
		switch word := strings.Trim(words[i], "'"); {
		case word == "-H":
			i++
			name, value, _ := strings.Cut(strings.Trim(words[i], "'"), ": ")
			header.Set(name, value)
		case word == "-d":
			i++
			body = strings.Trim(words[i], "'")
		case !strings.HasPrefix(word, "-"):
			url = word
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all strings.Builder
	_ = resp.Header.Write(&all)
	_, _ = io.Copy(&all, resp.Body)
	if resp.StatusCode != 200 {
		t.Errorf("status %d for %s", resp.StatusCode, line)
	}
	return all.String()
}

func TestARealOpenAIClientIsServed(t *testing.T) {
	_, data, _, _ := gateway(t, fmt.Sprintf(gatewayYAML, engine(t, "debug", "--text", "prose")))
	client := openai.NewClient(option.WithBaseURL(data+"/v1"), option.WithAPIKey("any"))
	params := openai.ChatCompletionNewParams{
		Model: "octet", MaxCompletionTokens: openai.Int(20),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("why does it crash?")},
	}
	whole, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil || whole.Choices[0].Message.Content == "" {
		t.Fatalf("%v: %+v", err, whole)
	}
	stream := client.Chat.Completions.NewStreaming(t.Context(), params)
	var text string
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text += c.Delta.Content
		}
	}
	if stream.Err() != nil || text != whole.Choices[0].Message.Content {
		t.Errorf("%v: streamed %q, whole %q", stream.Err(), text, whole.Choices[0].Message.Content)
	}
	models, err := client.Models.List(t.Context())
	if err != nil || len(models.Data) != 2 {
		t.Errorf("%v: models %+v", err, models)
	}
	params.Model = "none"
	var api *openai.Error
	if _, err = client.Chat.Completions.New(t.Context(), params); !errors.As(err, &api) ||
		api.Code != "model_not_found" {
		t.Errorf("an unknown model: %v", err)
	}
}

// open reports whether a request is open, by the metrics.
func open(admin string) bool {
	resp, err := http.Get(admin + "/metrics")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	page, _ := io.ReadAll(resp.Body)
	return strings.Contains(string(page), "\noctet_open_requests 1\n")
}

func TestTheSecondSignalStopsAtOnce(t *testing.T) {
	url := engine(t, "debug")
	p, data, admin, _ := gateway(t, fmt.Sprintf(gatewayYAML, url))
	post(t, url+"/admin/faults", `{"kind":"hang"}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", data+"/v1/chat/completions", strings.NewReader(ask))
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	await.True(t, "the request is open", func() bool { return open(admin) })
	_ = p.Signal(syscall.SIGTERM)
	p.await("msg=draining open=1")
	if code := p.stop(syscall.SIGTERM); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if said := p.output(); strings.Count(said, "stopped by a second signal") != 1 ||
		!strings.Contains(said, `msg="stopped by a second signal: what is open is cut" open=1`) {
		t.Errorf("it said %s", said)
	}
}

func TestAReloadIsWholeOrNotAtAll(t *testing.T) {
	p, data, admin, path := gateway(t, fmt.Sprintf(gatewayYAML, engine(t, "debug")))
	generation := func() (state struct{ Generation int }) {
		resp, err := http.Get(admin + "/admin/state")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_ = json.NewDecoder(resp.Body).Decode(&state)
		return state
	}
	first := generation().Generation
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(string(good) + "  - {name: debug, replicas: []}\n")
	p.await("reload refused")
	if status, answer := post(t, data+"/v1/chat/completions", ask); status != 200 || generation().Generation != first {
		t.Errorf("after a bad file: status %d, generation %d: %s", status, generation().Generation, answer)
	}
	write(string(good) + "  - {name: second, tokenizer: builtin, replicas: [{url: \"" + engine(t, "second") + "\"}]}\n")
	await.True(t, "the file is taken over", func() bool { return generation().Generation > first })
	if status, answer := post(t, data+"/v1/chat/completions", strings.Replace(ask, "octet", "second",
		1)); status != 200 {
		t.Errorf("the new specialist: status %d: %s", status, answer)
	}
	now := generation().Generation
	_ = p.Signal(syscall.SIGHUP)
	await.True(t, "SIGHUP reloads", func() bool { return generation().Generation > now })
}

func TestCheckNamesEveryFaultAndExitsTwo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.yaml")
	yaml :=
		"limits: {drain: soon}\nspecialists:\n  - name: a\n    fallback: a\n    profile: mine\n    replicas: [{url: " +
			"\"http://127.0.0.1:1\", rool: both}]\nprofiles:\n  mine: {score: [{least-load: 1}, {nothing: 1}], pick: " +
			"max-score}\n"
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "check", path)
	if code := p.code(); code != 2 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"limits.drain: ", "specialists[0].fallback: cycle: ",
		"specialists[0].replicas[0].rool: unknown_key: "} {
		if !strings.Contains(p.output(), want) {
			t.Errorf("no %q in\n%s", want, p.output())
		}
	}
	if code := start(t, "serve").code(); code != 2 {
		t.Errorf("serve without a file: exit code %d", code)
	}
}

// MOD2-22
func TestTheDemoRunsOnARealRedis(t *testing.T) {
	redis := redistest.Start(t)
	p := start(t, "demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--step", "1ms", "--redis", redis.Addr)
	data := p.await(`data\s+(http://\S+)`)[1]
	body := `{"model":"systems","max_tokens":3,"messages":[{"role":"user","content":"` +
		strings.Repeat("a long prompt of many words, ", 30) + `"}]}`
	await.True(t, "the index follows the events over Redis", func() bool {
		resp, err := http.Post(data+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		var said struct {
			Usage struct {
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		_ = json.Unmarshal(answer, &said)
		return resp.StatusCode == 200 && said.Usage.Details.Cached > 0 &&
			resp.Header.Get("X-Cached-Tokens") == fmt.Sprint(said.Usage.Details.Cached)
	})
}
