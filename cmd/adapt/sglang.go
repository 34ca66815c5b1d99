package adapt

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SGLang adapts the command line of SGLang's router: as a shell has it, or the flags as YAML or JSON.
func SGLang(text []byte) (*Result, error) {
	notes := &Notes{}
	args, err := arguments(text, notes)
	if err != nil {
		return nil, err
	}
	s := sglang{draft: newDraft(notes), notes: notes, args: args, engines: endpoints{}, keys: keys{}}
	s.model()
	s.workers()
	if s.replicas == 0 && !args.get("service-discovery").yes() {
		return nil, fmt.Errorf("%w: there is no worker", ErrNothing)
	}
	s.policies()
	s.listeners()
	s.limits()
	s.health()
	notes.rest(args, sglangHints)
	return s.draft.settle()
}

// arguments returns the flags by their names, without the dashes and the "router-" in front.
func arguments(text []byte, notes *Notes) (*value, error) {
	root, err := read(text, notes)
	switch {
	case err == nil && root.kind == yaml.MappingNode:
		return flagged(root), nil
	case err == nil && root.kind == yaml.SequenceNode:
		words := make([]word, 0, len(root.items))
		for _, item := range root.items {
			words = append(words, word{text: item.word(), line: item.line})
		}
		return commandLine(words, notes), nil
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrTooComplex), errors.Is(err, ErrNothing):
		return nil, err
	}
	*notes = Notes{}
	words, err := shell(string(text))
	if err != nil {
		return nil, err
	}
	return commandLine(words, notes), nil
}

// flagged returns a mapping of flags with their names as they are on a command line.
func flagged(v *value) *value {
	all := &value{kind: yaml.MappingNode, fields: map[string]*value{}, taken: true}
	for _, key := range v.keys {
		all.put(flagName(key), v.fields[key])
	}
	return all
}

// put adds a field; of one that is there already the items are joined.
func (v *value) put(name string, field *value) {
	old := v.fields[name]
	if old == nil {
		v.keys = append(v.keys, name)
		v.fields[name] = field
		return
	}
	old.items = append(old.items, field.items...)
	old.text = field.text
}

// flagName returns the name of a flag as its documentation has it, without dashes in front.
func flagName(text string) string {
	name := strings.ReplaceAll(strings.TrimLeft(text, "-"), "_", "-")
	return strings.TrimPrefix(name, "router-")
}

// commandLine makes flags of words; what comes before the first flag is the program.
func commandLine(words []word, notes *Notes) *value {
	all := &value{kind: yaml.MappingNode, fields: map[string]*value{}, taken: true}
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i].text, "--") {
			if len(all.keys) > 0 {
				notes.add(words[i].line, joined("", words[i].text), "no flag takes this word")
			}
			continue
		}
		name, given, inline := strings.Cut(words[i].text, "=")
		v := &value{path: joined("", name), line: words[i].line, kind: yaml.SequenceNode}
		add := func(w word) {
			v.items = append(v.items, &value{path: v.path, line: w.line, kind: yaml.ScalarNode, tag: "!!str",
				text: w.text})
		}
		if inline {
			add(word{given, words[i].line})
		}
		for !inline && i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "--") {
			i++
			add(words[i])
		}
		if name = flagName(name); !repeated[name] {
			v = single(v)
		} else {
			v = &value{path: v.path, line: v.line, kind: yaml.SequenceNode, items: []*value{v}}
		}
		all.put(name, v)
	}
	return all
}

// repeated are the flags that may come several times, each with some words.
var repeated = map[string]bool{"prefill": true, "decode": true}

// single makes a scalar of a flag with one word or none.
func single(v *value) *value {
	switch len(v.items) {
	case 0:
		return &value{path: v.path, line: v.line, kind: yaml.ScalarNode, tag: "!!bool", text: "true"}
	case 1:
		return v.items[0]
	}
	return v
}

// sglang is one adaptation.
type sglang struct {
	draft    *draft
	notes    *Notes
	args     *value
	engines  endpoints
	keys     keys
	replicas int
}

// workers adapts the engines.
func (s *sglang) workers() {
	for _, v := range s.args.get("worker-urls").list() {
		s.worker(v, "")
	}
	for _, v := range s.args.get("prefill").list() {
		words := v.list()
		if len(words) == 0 {
			continue
		}
		at := s.worker(words[0], "prefill")
		if len(words) < 2 {
			continue
		}
		if port := words[1]; strings.EqualFold(port.text, "none") {
			port.taken = true
		} else if at != "" {
			s.draft.count(at+"bootstrap_port", port, 0)
		}
	}
	for _, v := range s.args.get("decode").list() {
		for _, url := range v.list() {
			s.worker(url, "decode")
		}
	}
	if v := s.args.get("service-discovery"); v.yes() {
		s.draft.set("specialists[0].discover", map[string]string{}, v)
		s.notes.on(v, "replicas may be registered (discover: {}); found by EndpointSlices, and not by the "+
			"labels of pods, "+
			"they are with discover.kubernetes: {namespace, service, port}")
	}
}

// worker writes one engine, and returns its path with a dot behind; "" if it is left out.
func (s *sglang) worker(v *value, role string) string {
	url := s.engines.of(v, v.word(), "the specialist", s.notes)
	if url == "" {
		return ""
	}
	at := "specialists[0].replicas[" + strconv.Itoa(s.replicas) + "]."
	s.replicas++
	s.draft.set(at+"url", url, v)
	s.draft.set(at+"engine", "sglang", v)
	if role != "" {
		s.draft.set(at+"role", role, v)
		s.draft.set("specialists[0].workflow", "disaggregated", nil)
	}
	if key := s.args.get("api-key"); key.word() != "" {
		s.draft.set(at+"api_key", s.keys.of(key, s.draft), key)
	}
	if path := s.args.get("health-check-endpoint"); path.word() != "" {
		s.draft.set(at+"health_path", path.text, path)
	}
	return at
}

// model names the specialist.
func (s *sglang) model() {
	v := s.args.get("model-path")
	name := v.word()
	s.draft.set("specialists[0].name", names{}.give(name[strings.LastIndexByte(name, '/')+1:]), v)
	if name == "" {
		s.notes.add(0, ".", "the specialist is called model: what clients put in \"model\", and what "+
			"replicas are asked for "+
			"unless replicas[].model says another name")
		return
	}
	s.notes.add(v.line, v.path, "names the specialist; specialists[].tokenizer takes the path of its tokenizer.json")
}

// listeners adapts where the router listens.
func (s *sglang) listeners() {
	host, port := s.args.get("host"), s.args.get("port")
	if host != nil || port != nil {
		at := [2]string{"127.0.0.1", "30000"}
		from := port
		for i, v := range []*value{host, port} {
			if v.word() != "" {
				at[i], from = v.text, v
			}
		}
		s.draft.set("listen.data", net.JoinHostPort(strings.Trim(at[0], "[]"), at[1]), from)
	}
	if v := s.args.get("log-level"); v != nil {
		level := v.word()
		if known, ok := map[string]string{"warning": "warn", "critical": "error"}[level]; ok {
			level = known
		}
		s.draft.set("log.level", level, v)
	}
}
