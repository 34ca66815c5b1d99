package emulator

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"octet/kvpool"
)

const maxAdapters = 256 // loaded at once

// lora is one loaded adapter. The zero lora stands for the base model.
type lora struct {
	name, path string
	loading    int // which loading of all this is: the same name loaded anew is another adapter
	since      time.Time
}

// loraRegistry holds the adapters that are loaded, in the order of loading. Safe for concurrent use.
type loraRegistry struct {
	base     string // the base model's name
	slots    int
	lorasMu  sync.Mutex
	loras    []lora
	loadings int
}

func newLoraRegistry(c Config) (*loraRegistry, error) {
	s := &loraRegistry{base: c.Model, slots: c.AdapterSlots}
	for _, name := range c.Adapters {
		if err := s.load(name, "built-in"); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return s, nil
}

// find returns what answers to a model name: the zero lora for the base, an adapter, or nothing.
func (s *loraRegistry) find(model string) (l lora, known bool) {
	if model == s.base {
		return lora{}, true
	}
	model = strings.TrimPrefix(model, s.base+":") // as SGLang has it
	s.lorasMu.Lock()
	defer s.lorasMu.Unlock()
	if i := s.at(model); i >= 0 {
		return s.loras[i], true
	}
	return lora{}, false
}

// at returns where name stands, -1 when it is not loaded. lorasMu is held.
func (s *loraRegistry) at(name string) int {
	return slices.IndexFunc(s.loras, func(l lora) bool { return l.name == name })
}

func (s *loraRegistry) load(name, path string) error {
	s.lorasMu.Lock()
	defer s.lorasMu.Unlock()
	switch {
	case name == "" || path == "":
		return invalidUser("Both 'lora_name' and 'lora_path' must be provided.")
	case name == s.base || s.at(name) >= 0:
		return invalidUser(
			"The lora adapter '%s' has already been loaded. If you want to load the adapter in place, set "+
				"'load_inplace' to True.", name)
	case len(s.loras) >= s.slots:
		return invalidUser("%d lora adapters are loaded already.", s.slots)
	}
	s.loadings++
	s.loras = append(s.loras, lora{name, path, s.loadings, time.Now()})
	return nil
}

func (s *loraRegistry) unload(name string) error {
	s.lorasMu.Lock()
	defer s.lorasMu.Unlock()
	i := s.at(name)
	if i < 0 {
		return notFound("lora_name", "The lora adapter '%s' cannot be found.", name)
	}
	s.loras = slices.Delete(s.loras, i, i+1)
	return nil
}

func (s *loraRegistry) list() []lora {
	s.lorasMu.Lock()
	defer s.lorasMu.Unlock()
	return slices.Clone(s.loras)
}

// root returns the hash that the chains of l's sequences hang on. Blocks are told apart by adapter and by loading, so
// that neither another adapter nor earlier weights of the same name are ever taken for this one.
func (s *loraRegistry) root(hasher kvpool.Hasher, l lora, salt string) kvpool.BlockHash {
	return hasher.Root(s.base, l.name+"\x00"+strconv.Itoa(l.loading), salt)
}

func invalidUser(format string, args ...any) *problem {
	p := badRequest("", format, args...)
	p.Type = "InvalidUserInput"
	return p
}

// loraBody is what the adapter routes take.
type loraBody struct {
	Name    string `json:"lora_name"`
	Path    string `json:"lora_path"`
	InPlace bool   `json:"load_inplace"`
}

func (s *loraRegistry) loadAs(b loraBody) error {
	if b.InPlace {
		_ = s.unload(b.Name) // what is not there need not go
	}
	return s.load(b.Name, b.Path)
}

func (s *loraRegistry) handleUnload(w http.ResponseWriter, r *http.Request) {
	var b loraBody
	err := readBody(r, &b)
	if err == nil {
		err = s.unload(b.Name)
	}
	answerText(w, err, fmt.Sprintf("Success: LoRA adapter '%s' removed successfully.", b.Name))
}

func answerText(w http.ResponseWriter, err error, text string) {
	if err != nil {
		writeProblem(w, err)
		return
	}
	_, _ = fmt.Fprint(w, text)
}
