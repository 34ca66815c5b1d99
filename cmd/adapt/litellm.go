package adapt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// LiteLLM adapts a config.yaml of LiteLLM's proxy. environ looks a variable of the environment up: the master key may
// be one, and its hash is all that the result has of it.
func LiteLLM(text []byte, environ func(string) (string, bool)) (*Result, error) {
	notes := &Notes{}
	root, err := read(text, notes)
	if err != nil {
		return nil, err
	}
	l := litellm{draft: newDraft(notes), notes: notes, environ: environ, names: names{}, engines: endpoints{},
		keys: keys{}, groups: map[string]*group{}}
	l.general(root.get("general_settings"))
	l.router(root.get("router_settings"), root.get("litellm_settings"))
	for _, deployment := range root.get("model_list").list() {
		l.deployment(deployment)
	}
	if len(l.groups) == 0 {
		return nil, fmt.Errorf("%w: model_list has no model at an endpoint that speaks the OpenAI API", ErrNothing)
	}
	l.fallbacks(root.get("router_settings").get("fallbacks"))
	l.fallbacks(root.get("litellm_settings").get("fallbacks"))
	if l.profile != "" {
		for i := range len(l.groups) {
			l.draft.set(fmt.Sprintf("specialists[%d].profile", i), l.profile, nil)
		}
	}
	notes.rest(root, litellmHints)
	return l.draft.settle()
}

// litellm is one adaptation.
type litellm struct {
	draft   *draft
	notes   *Notes
	environ func(string) (string, bool)
	names   names
	engines endpoints
	keys    keys
	groups  map[string]*group // by model_name
	profile string            // of all; "" is the default
}

// group is the deployments of one model_name: a specialist.
type group struct {
	at       string // such as specialists[0]
	name     string
	replicas int
	fallback *group
}

// openAI are the providers, as they stand before the "/" of a model, that speak the OpenAI API, and the kinds of engine
// that they are.
var openAI = map[string]string{
	"openai": "openai", "hosted_vllm": "vllm", "vllm": "vllm", "text-completion-openai": "openai",
	"custom_openai": "openai", "openai_like": "openai", "litellm_proxy": "openai", "lm_studio": "openai",
	"llamafile": "llamacpp", "ollama": "openai", "ollama_chat": "openai", "xinference": "openai",
}

// deployment makes a replica of an entry of model_list.
func (l *litellm) deployment(v *value) {
	model := v.get("model_name").word()
	params := v.get("litellm_params")
	full := params.get("model").word()
	provider, name, prefixed := strings.Cut(full, "/")
	kind, known := openAI[provider]
	base := cmp.Or(params.get("api_base"), params.get("base_url"))
	switch {
	case prefixed && !known && base == nil, !prefixed && base == nil && full != "":
		l.notes.on(v, "left out: %s is no engine at an endpoint of one's own: a replica has an api_base "+
			"that speaks the "+
			"OpenAI API", shown(cmp.Or(full, "it")))
		return
	case model == "" || full == "":
		l.notes.on(v, "left out: it has no model_name, or no litellm_params.model")
		return
	case strings.Contains(model, "*"):
		l.notes.on(v, "left out: a name with a wildcard: each model is a specialist of its own")
		return
	case prefixed && !known: // such as Qwen/Qwen3-8B at an api_base
		kind, name = "auto", full
	case !prefixed:
		kind, name = "auto", full
	}
	where, from := base.word(), base
	if base == nil {
		where, from = "https://api.openai.com", params.get("model")
	}
	if url := l.engines.of(from, where, shown(model), l.notes); url != "" {
		l.replica(v, l.group(v, model), url, kind, name)
	}
}

// group returns the specialist of a model_name, which is made if it is the first of it.
func (l *litellm) group(v *value, model string) *group {
	if g := l.groups[model]; g != nil {
		return g
	}
	g := &group{at: fmt.Sprintf("specialists[%d]", len(l.groups)), name: l.names.give(model)}
	l.groups[model] = g
	from := v.get("model_name")
	if g.name != model {
		l.notes.add(from.line, from.path, fmt.Sprintf("%s is called %s: what clients put in "+
			"\"model\"", shown(model), g.name))
	}
	l.draft.set(g.at+".name", g.name, from)
	return g
}

// replica writes one engine of a specialist.
func (l *litellm) replica(v *value, g *group, url, kind, model string) {
	at := g.at + ".replicas[" + strconv.Itoa(g.replicas) + "]."
	g.replicas++
	params := v.get("litellm_params")
	l.draft.set(at+"url", url, params.get("api_base"))
	if kind != "auto" {
		l.draft.set(at+"engine", kind, params.get("model"))
	}
	if model != g.name {
		l.draft.set(at+"model", model, params.get("model"))
	}
	if key := params.get("api_key"); key.word() != "" {
		l.draft.set(at+"api_key", l.keys.of(key, l.draft), key)
	}
	if most := params.get("max_parallel_requests"); most != nil {
		l.draft.count(at+"max_running", most, 0)
	}
	if region := params.get("region_name").word(); region != "" {
		l.draft.set(at+"labels.region", region, params.get("region_name"))
	}
}
