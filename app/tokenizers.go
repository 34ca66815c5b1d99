package app

import (
	"fmt"

	"octet/app/fabric"
	"octet/config"
	"octet/engine"
	"octet/engine/tokenizers"
	"octet/routing/events/enginehash"
)

// isTokenizerFile returns true if a specialist's tokenizer is a file.
func isTokenizerFile(sp *config.Specialist) bool {
	switch sp.Tokenizer {
	case "auto", "engine", "builtin", "none":
		return false
	}
	return true
}

// loadLocals reads the tokenizers that are files, by specialist, or takes them from what is in force. The error names
// the key of the configuration.
func loadLocals(cfg *config.Config, inForce func(specialist string) *tokenizers.Local) (map[string]*tokenizers.Local,
	error) {
	all := map[string]*tokenizers.Local{}
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		if !isTokenizerFile(sp) {
			continue
		}
		l, err := tokenizers.Load(sp.Tokenizer, sp.ChatTemplate, inForce(sp.Name))
		if err != nil {
			return nil, fmt.Errorf("specialists[%d].tokenizer: %w", i, err)
		}
		all[sp.Name] = l
	}
	return all, nil
}

// tokenizerSpecs returns how the prompts of a generation's specialists become tokens.
func tokenizerSpecs(g *generation, scheme func(fabric.Hashes) *enginehash.Scheme) []tokenizers.Spec {
	specs := make([]tokenizers.Spec, len(g.found.Specialists))
	for i := range g.found.Specialists {
		sp := &g.found.Specialists[i]
		first, model := &engine.Kind{}, sp.Name // of a specialist without a replica
		if len(sp.Replicas) > 0 {
			first, model = &g.replicas[sp.Replicas[0].Name].served.Kind, sp.Replicas[0].Model
		}
		s := tokenizers.Spec{
			Specialist: sp.Name, Source: sourceOf(sp, first),
			Local:  g.locals[sp.Name],
			Scheme: scheme(fabric.PromptHashes(sp)), Model: model,
			Timeout: sp.TokenizerTimeout, CheckShare: sp.TokenizerCheck,
		}
		for j := range sp.Replicas {
			r := g.replicas[sp.Replicas[j].Name]
			s.Engines = append(s.Engines, tokenizers.Engine{Replica: r.key.name, Kind: r.served.Kind,
				Client: r.client, Host: r.served.Host})
		}
		specs[i] = s
	}
	return specs
}

// sourceOf returns where the tokens of a specialist's prompts come from. kind is that of its first replica.
func sourceOf(sp *config.Specialist, kind *engine.Kind) tokenizers.Source {
	switch {
	case isTokenizerFile(sp):
		return tokenizers.File
	case sp.Tokenizer == "none":
		return tokenizers.None
	case sp.Tokenizer == "builtin":
		return tokenizers.Builtin
	case !kind.TokenizesChats:
		return tokenizers.None // its engines' /tokenize knows no chat template, and they publish no events
	}
	return tokenizers.ByEngine
}
