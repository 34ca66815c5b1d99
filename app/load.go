package app

import (
	"fmt"
	"os"
	"os/exec"

	"octet/app/pipeline"
	"octet/config"
	"octet/engine"
	"octet/engine/tokenizers"
	"octet/routing/plugins"
)

// Source is where a configuration comes from. The zero Source cannot be read again.
type Source struct {
	Path string   // of the file
	Sets []string // overrides of single keys: path=value
	// Engines are the kinds of engine that it may name, and that a gateway finds out; nil means engine.AllKinds().
	Engines engine.Table
}

// Load reads the configuration and builds what it names, so that a file that passes is one that serves. The error is
// *config.Faults if the file is at fault, with the faults of all layers: keys, profiles, workflows, tokenizers, models,
// commands and certificates.
func (s Source) Load() (*config.Config, error) {
	cfg, err := config.Read(s.Path, config.Options{Sets: s.Sets, Environ: os.Environ(), Presets: plugins.Presets(),
		Engines: s.Engines})
	if cfg == nil {
		return nil, err
	}
	all := &config.Faults{File: s.Path}
	if err := all.Add(err); err != nil {
		return nil, err
	}
	models := modelFaults
	if len(all.List) > 0 { // what the cascade says of wrong keys is no fault of its own
		models = artefactFaults
	}
	for _, check := range []func(string, *config.Config) error{pipeline.Faults, tokenizerFaults, models,
		commandFaults, certificateFaults} {
		if err := all.Add(check(s.Path, cfg)); err != nil {
			return nil, err
		}
	}
	if len(all.List) > 0 {
		return nil, all
	}
	return cfg, nil
}

// Files reads the files of specialists[].discover as serving does. A file at fault does not keep a gateway from
// serving: it finds nothing until it is mended. The error is *config.Faults if files are at fault.
func (s Source) Files(cfg *config.Config) (config.FoundFiles, error) {
	return cfg.ReadFiles(s.Path, config.Options{Environ: os.Environ(), Engines: s.Engines})
}

// commandFaults looks for the commands that the gateway would run.
func commandFaults(path string, cfg *config.Config) error {
	all := &config.Faults{File: path}
	look := func(at string, command []string) {
		if len(command) == 0 {
			return
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			all.List = append(all.List, config.Fault{Path: at, Code: config.CodeUnreadable, Message: err.Error()})
		}
	}
	if cfg.Outcomes.Verifier.Sample > 0 {
		look("outcomes.verifier.command", cfg.Outcomes.Verifier.Command)
	}
	look("shadow.judge.command", cfg.Shadow.Judge.Command)
	if len(all.List) == 0 {
		return nil
	}
	return all
}

// tokenizerFaults reads every tokenizer that is a file.
func tokenizerFaults(path string, cfg *config.Config) error {
	all := &config.Faults{File: path}
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		if !isTokenizerFile(sp) {
			continue
		}
		if _, err := tokenizers.Load(sp.Tokenizer, sp.ChatTemplate, nil); err != nil {
			all.List = append(all.List,
				config.Fault{Path: fmt.Sprintf("specialists[%d].tokenizer", i), Code: config.CodeUnreadable,
					Message: err.Error()})
		}
	}
	if len(all.List) == 0 {
		return nil
	}
	return all
}
