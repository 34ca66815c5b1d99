package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"octet/engine"
)

// page is a client of an engine that answers with a status and a text for "METHOD path", else with 404.
func page(t *testing.T, kind string, pages map[string]string) (*Client, *[]string) {
	t.Helper()
	url, seen := serve(t, pages)
	return dialUp(t, Config{URL: url, Engine: kind}), seen
}

// serve is page's engine.
func serve(t *testing.T, pages map[string]string) (url string, asked *[]string) {
	t.Helper()
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
		text, found := pages[r.Method+" "+r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		status := 200
		if n, err := fmt.Sscanf(text, "%d ", &status); n == 1 && err == nil {
			text = text[4:]
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL, &seen
}

func TestProbeTellsHealthyFromEverythingElse(t *testing.T) {
	ctx := context.Background()
	for kind, path := range map[string]string{"vllm": "/health", "sglang": "/health", "llamacpp": "/health",
		"openai": "/v1/models"} {
		c, _ := page(t, kind, map[string]string{"GET " + path: ""})
		if err := c.Probe(ctx); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	url, seen := serve(t, map[string]string{"GET /ready": ""})
	own := dialUp(t, Config{URL: url, HealthPath: "/ready"})
	if err := own.Probe(ctx); err != nil || (*seen)[0] != "GET /ready" {
		t.Errorf("own path: %v, asked %q", err, *seen)
	}
	c, _ := page(t, "llamacpp",
		map[string]string{
			"GET /health": `503 {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`})
	var said *StatusError
	if err := c.Probe(ctx); !errors.As(err, &said) || said.Status != 503 || said.Message != "Loading model" {
		t.Errorf("got %v", err)
	}
	c, _ = page(t, "vllm", nil)
	if err := c.Probe(ctx); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	c = dialUp(t, Config{URL: handle(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })})
	if err := c.Probe(ctx); !errors.Is(err, engine.ErrReset) {
		t.Errorf("got %v", err)
	}
}

func TestTokenizeReadsEveryEnginesAnswer(t *testing.T) {
	for text, want := range map[string][]uint32{
		`{"count":3,"max_model_len":8192,"tokens":[1,2,4294967295],"token_strs":["a","b","c"]}`: {7, 1, 2, 4294967295},
		`{"tokens": [ 15339 ,  1917 ] }`:    {7, 15339, 1917},
		"{\"tokens\":[\n1\n]}\n":            {7, 1},
		`{"tokens":[]}`:                     {7},
		`{"x":{"tokens":[9]},"tokens":[1]}`: {7, 1},
	} {
		c, seen := page(t, "vllm", map[string]string{"POST /tokenize": text})
		got, err := c.Tokenize(context.Background(), []uint32{7}, []byte(`{"prompt":"x"}`))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
		if (*seen)[0] != `POST /tokenize {"prompt":"x"}` {
			t.Errorf("asked %q", *seen)
		}
	}
}

func TestTokenizeRefusesWhatIsNotAListOfIDs(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{}`, `null`, `{"tokens":null}`, `{"tokens":"1"}`, `{"tokens":[-1]}`, `{"tokens":[1.5]}`,
		`{"tokens":[1e3]}`, `{"tokens":["1"]}`,
		`{"tokens":[[1]]}`, `{"tokens":[{"id":1,"piece":"a"}]}`, `{"tokens":[4294967296]}`, `{"tokens":[99999999999]}`,
		`{"tokens":[null]}`, `{"tokens":[true]}`,
		`{"tokens":[1,2]`, `{"tokens":[1,]}`, `{"tokens":[1],"tokens":[2]}`, `{"tokens":[1]}x`, `{"tokens":[1]}{}`,
		"{\"tokens\":[1],\"a\":\"\xff\"}", `{"count":0}`,
	} {
		c, _ := page(t, "vllm", map[string]string{"POST /tokenize": text})
		got, err := c.Tokenize(context.Background(), []uint32{7}, []byte("{}"))
		if !errors.Is(err, engine.ErrProtocol) || len(got) != 1 || got[0] != 7 {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	c, _ := page(t, "openai", nil)
	if _, err := c.Tokenize(context.Background(), nil, []byte("{}")); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func FuzzTokenIDs(f *testing.F) {
	f.Add([]byte(`{"tokens":[1,2]}`))
	f.Add([]byte(`{"tokens":[1e3,[2],"3"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if ids, err := appendTokens(nil, text); err == nil && len(ids)*2 > len(text) {
			t.Errorf("%d ids from %q", len(ids), text)
		}
	})
}

func TestModelsListsAdaptersWithTheirBase(t *testing.T) {
	c, _ := page(t, "vllm", map[string]string{"GET /v1/models": `{"object":"list","data":[
		{"id":"base","object":"model","root":"/models/base","parent":null,"max_model_len":8192,"permission":[{}]},
		{"id":"gdb-v2","object":"model","root":"/models/gdb-v2","parent":"base","max_model_len":null}]}`})
	got, err := c.Models(context.Background())
	want := []Model{{ID: "base", Root: "/models/base", MaxModelLen: 8192},
		{ID: "gdb-v2", Root: "/models/gdb-v2", Parent: "base"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v %v", got, err)
	}
	for _, bad := range []string{"", "x", `{"data":{}}`, `{"data":[{"id":1}]}`} {
		c, _ := page(t, "vllm", map[string]string{"GET /v1/models": bad})
		if _, err := c.Models(context.Background()); !errors.Is(err, engine.ErrProtocol) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAnAnswerOverItsBoundIsCutOff(t *testing.T) {
	c := dialUp(t, Config{URL: handle(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = io.WriteString(w, strings.Repeat("x", 64<<10))
		}
	})})
	if _, err := c.Models(context.Background()); !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

func TestLoadingAnAdapterEndsWithItServedOrAnError(t *testing.T) {
	const refusal = `400 {"object":"error",` +
		`"message":"The lora adapter 'a' has already been loaded.","type":"InvalidUserInput","code":400}`
	const nothing = `404 {"error":{"message":"Not Found","type":"Not Found","param":null,"code":404}}`
	const older = `404 {"object":"error","message":"No adapter found for '/m/a'","type":"NotFoundError","code":404}`
	const missing = `404 {"error":{"message":"No adapter found for '/m/a'","type":"NotFoundError","code":404}}`
	for name, c := range map[string]struct {
		kind  string
		pages map[string]string
		want  error
		asked string
	}{
		"vLLM loads": {"vllm",
			map[string]string{"POST /v1/load_lora_adapter": "Success: LoRA adapter 'a' added."}, nil,
			`POST /v1/load_lora_adapter {"lora_name":"a","lora_path":"/m/a"}`},
		"SGLang loads": {"sglang", map[string]string{"POST /load_lora_adapter": `{"success":true}`}, nil,
			`POST /load_lora_adapter {"lora_name":"a","lora_path":"/m/a"}`},
		"SGLang says no in a 200": {"sglang",
			map[string]string{"POST /load_lora_adapter": `{"success":false,"message":"no room"}`}, ErrAdapter, ""},
		"SGLang says no": {"sglang", map[string]string{"POST /load_lora_adapter": `400 {"success":false}`},
			ErrAdapter, ""},
		"loaded already": {"vllm",
			map[string]string{"POST /v1/load_lora_adapter": refusal,
				"GET /v1/models": `{"data":[{"id":"a","root":"/m/a"}]}`}, nil, ""},
		"loaded from elsewhere": {"vllm",
			map[string]string{"POST /v1/load_lora_adapter": refusal,
				"GET /v1/models": `{"data":[{"id":"a","root":"/old"}]}`}, ErrAdapter, ""},
		"refused": {"vllm",
			map[string]string{"POST /v1/load_lora_adapter": refusal, "GET /v1/models": `{"data":[{"id":"b"}]}`},
			ErrAdapter, ""},
		"refused, list broken": {"vllm", map[string]string{"POST /v1/load_lora_adapter": refusal}, ErrAdapter, ""},
		"switched off":         {"vllm", nil, ErrUnsupported, ""},
		"switched off, as FastAPI says": {"vllm",
			map[string]string{"POST /v1/load_lora_adapter": `404 {"detail":"Not Found"}`}, ErrUnsupported, ""},
		"switched off, in vLLM's words for it": {"vllm",
			map[string]string{"POST /v1/load_lora_adapter": nothing}, ErrUnsupported, ""},
		"no such path": {"vllm", map[string]string{"POST /v1/load_lora_adapter": missing,
			"GET /v1/models": `{"data":[{"id":"b"}]}`}, ErrAdapter, ""},
		"no such path, in older words": {"vllm", map[string]string{"POST /v1/load_lora_adapter": older},
			ErrAdapter, ""},
		"no such thing": {"llamacpp", nil, ErrUnsupported, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cl, seen := page(t, c.kind, c.pages)
			if err := cl.LoadAdapter(context.Background(), Adapter{Name: "a", Path: "/m/a"}); !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			} else if errors.Is(err, ErrAdapter) && errors.Is(err, ErrUnsupported) {
				t.Errorf("it is both: %v", err)
			}
			if c.asked != "" && (*seen)[0] != c.asked {
				t.Errorf("asked %q", *seen)
			}
		})
	}
}

func TestUnloadingAnAdapterEndsWithItGoneOrAnError(t *testing.T) {
	const unknown = `404 {"message":"The lora adapter 'a' cannot be found."}`
	for name, c := range map[string]struct {
		pages map[string]string
		want  error
	}{
		"unloads": {map[string]string{"POST /v1/unload_lora_adapter": "ok"}, nil},
		"not loaded": {map[string]string{"POST /v1/unload_lora_adapter": unknown, "GET /v1/models": `{"data":[]}`},
			nil},
		"stays": {map[string]string{"POST /v1/unload_lora_adapter": unknown,
			"GET /v1/models": `{"data":[{"id":"a"}]}`}, ErrAdapter},
		"unclear":      {map[string]string{"POST /v1/unload_lora_adapter": "400 no"}, ErrAdapter},
		"broken":       {map[string]string{"POST /v1/unload_lora_adapter": "500 no"}, &StatusError{Status: 500}},
		"switched off": {nil, ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			cl, _ := page(t, "vllm", c.pages)
			err := cl.UnloadAdapter(context.Background(), "a")
			var said *StatusError
			if errors.As(c.want, &said) {
				if !errors.As(err, &said) || said.Status != 500 {
					t.Errorf("got %v", err)
				}
			} else if !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
