package fleet

import "octet/routing/index"

// Spec is a replica as configured.
type Spec struct {
	Name       string // unique in the Fleet
	Specialist string
	URL        string
	Model      string // name that the engine knows it by
	Engine     string // vllm, sglang, llamacpp or openai
	Role       string // both (also ""), prefill, decode or preprocess
	Labels     map[string]string
	Host       index.HostID // unique in the Fleet
	Blocks     int          // KV pool; 0 is unknown
	BlockSize  int          // tokens
	MaxRunning int
	HasEvents  bool // it publishes its cache events
	OnlyHanded bool // it answers no prompt but those that another has computed for it
}

// Answers reports whether a replica of a role is there for answers, and not only for what comes before them.
func Answers(role string) bool { return role == "" || role == RoleBoth || role == RoleDecode }

// Covers reports whether a replica's role lets it do what one of another role is there for.
func (s *Spec) Covers(role string) bool {
	return s.Role == role || s.Role == "" || s.Role == RoleBoth || Answers(role) && Answers(s.Role)
}

// Roles of a replica.
const (
	RoleBoth    = "both"
	RolePrefill = "prefill"
	RoleDecode  = "decode"
	// RolePreprocess is of engines that make tokens of prompts and compute nothing.
	RolePreprocess = "preprocess"
)
