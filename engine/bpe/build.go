package bpe

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// build makes a Tokenizer of a file, or says why its ids would not be exact.
func build(f *file) (*Tokenizer, error) {
	t := &Tokenizer{classes: classTables()}
	if f.Truncation != nil && f.Truncation.Kind() != 'n' {
		return nil, fmt.Errorf("%w: the file cuts texts short (truncation)", ErrUnsupported)
	}
	var err error
	if t.normalizer, err = readNormalizer(&f.Normalizer); err != nil {
		return nil, err
	}
	if t.splitter, err = readSplitter(&f.PreTokenizer); err != nil {
		return nil, err
	}
	t.splitter.classes = t.classes
	t.splitter.runs = t.splitter.sentence && noneAcross(f.Model.Vocab)
	if t.vocabulary, err = newVocabulary(&f.Model, !t.splitter.sentence); err != nil {
		return nil, err
	}
	if err := t.addTokens(f.Added); err != nil {
		return nil, err
	}
	t.spaceCuts = t.cutsAtSpaces(f.Added)
	return t, t.surround(&f.Post)
}

// readSplitter returns what a pre-tokenizer does.
func readSplitter(c *component) (p splitter, err error) {
	switch c.Type {
	case "Sequence":
		return p, p.readSequence(c.PreTokenizers)
	case "ByteLevel":
		if c.UseRegex != nil && !*c.UseRegex {
			return p, fmt.Errorf("%w: pre_tokenizer ByteLevel without a pattern", ErrUnsupported)
		}
		p.pattern = patterns[gpt2Regex]
		p.addSpace = c.AddPrefixSpace == nil || *c.AddPrefixSpace
		return p, nil
	case "Metaspace":
		return p, p.readMetaspace(c)
	case "":
		p.sentence = true
		return p, nil
	}
	return p, fmt.Errorf("%w: pre_tokenizer %q", ErrUnsupported, c.Type)
}

// readSequence takes a Split or Digits, and ByteLevel behind it.
func (p *splitter) readSequence(parts []component) error {
	if len(parts) != 2 || parts[1].Type != "ByteLevel" || parts[1].AddPrefixSpace == nil || *parts[1].AddPrefixSpace {
		return fmt.Errorf(
			"%w: pre_tokenizer Sequence of anything but a Split or Digits and a ByteLevel without add_prefix_space",
			ErrUnsupported)
	}
	first, bare := &parts[0], parts[1].UseRegex != nil && !*parts[1].UseRegex
	switch {
	case first.Type == "Split" && bare:
		return p.readSplit(first)
	case first.Type == "Digits" && !bare:
		p.pattern = patterns[gpt2Regex]
		p.pattern.spaced, p.pattern.isolate = false, true
		if first.Individual {
			p.pattern.digits = 1
		}
		return nil
	}
	return fmt.Errorf("%w: pre_tokenizer %s before ByteLevel", ErrUnsupported, first.Type)
}

// readSplit finds the scanner for a pattern.
func (p *splitter) readSplit(c *component) error {
	known := false
	if c.Pattern.Regex != nil {
		p.pattern, known = patterns[*c.Pattern.Regex]
	}
	// each pattern matches all of a text
	whole := c.Behavior == "Isolated" && !c.Invert || c.Behavior == "Removed" && c.Invert
	switch {
	case c.Pattern.Regex == nil:
		return fmt.Errorf("%w: a Split by a plain string", ErrUnsupported)
	case !known:
		return fmt.Errorf("%w: no scanner for the pattern %.200q", ErrUnsupported, *c.Pattern.Regex)
	case !whole:
		return fmt.Errorf("%w: a Split that is %q", ErrUnsupported, c.Behavior)
	}
	return nil
}

func (p *splitter) readMetaspace(c *component) error {
	p.sentence, p.meta = true, true
	p.each = c.Split == nil || *c.Split
	scheme := c.PrependScheme
	switch {
	case c.Replacement != metaspaceMark:
		return fmt.Errorf("%w: Metaspace with %q for a space", ErrUnsupported, c.Replacement)
	case scheme == "" && c.AddPrefixSpace != nil && !*c.AddPrefixSpace:
		scheme = "never"
	case scheme == "":
		scheme = "always"
	}
	switch scheme {
	case "always":
		p.front = func(at Place) bool { return at != Inside }
	case "first":
		p.front = func(at Place) bool { return at == Start }
	case "never":
		p.front = func(Place) bool { return false }
	default:
		return fmt.Errorf("%w: Metaspace with prepend_scheme %q", ErrUnsupported, scheme)
	}
	return nil
}

// addTokens makes the finders.
func (t *Tokenizer) addTokens(list []addedEntry) (err error) {
	var raw, normalized []added
	for _, e := range list {
		switch {
		case e.Content == "" || !utf8.ValidString(e.Content):
			return fmt.Errorf("%w: added token %d has no content", ErrFormat, e.ID)
		case e.ID > maxID:
			return fmt.Errorf("%w: the id of %q is %d", ErrFormat, e.Content, e.ID)
		case e.SingleWord:
			return fmt.Errorf("%w: added token %q is a single_word", ErrUnsupported, e.Content)
		}
		a := added{content: e.Content, id: e.ID, special: e.Special, lstrip: e.LStrip, rstrip: e.RStrip}
		t.vocabulary.spelling[e.ID] = e.Content
		if a.rstrip {
			t.rstrips = append(t.rstrips, a.content)
		}
		if e.Normalized && len(t.normalizer.steps) > 0 {
			a.content = string(t.normalizer.apply(new([]byte), []byte(e.Content), false))
			normalized = append(normalized, a)
			continue
		}
		if e.Normalized {
			normalized = append(normalized, a)
		} else {
			raw = append(raw, a)
		}
	}
	if t.raw, err = newFinder(raw); err == nil {
		t.normalized, err = newFinder(normalized)
	}
	return err
}

// cutsAtSpaces reports whether no token, rule or normalizer goes across the place before a ' ' behind what is no white
// space.
func (t *Tokenizer) cutsAtSpaces(list []addedEntry) bool {
	across := slices.ContainsFunc(list, func(e addedEntry) bool {
		return strings.Contains(strings.TrimLeft(e.Content, " "), " ") ||
			strings.Contains(strings.TrimLeft(e.Content, metaspaceMark), metaspaceMark)
	})
	words := !t.splitter.sentence || t.splitter.each || t.splitter.runs
	return !across && words && t.normalizer.spaceSafe()
}

// surround reads what a post-processor puts around a prompt.
func (t *Tokenizer) surround(c *component) error {
	switch c.Type {
	case "", "ByteLevel":
		return nil
	case "Sequence":
		for i := range c.Processors {
			if err := t.surround(&c.Processors[i]); err != nil {
				return err
			}
		}
		return nil
	case "TemplateProcessing":
		return t.template(c)
	}
	return fmt.Errorf("%w: post_processor %q", ErrUnsupported, c.Type)
}

func (t *Tokenizer) template(c *component) error {
	t.prefix, t.suffix = nil, nil
	side := &t.prefix
	for _, p := range c.Single {
		switch {
		case p.Sequence != nil:
			side = &t.suffix
		case p.SpecialToken != nil:
			entry, ok := c.Special[p.SpecialToken.ID]
			if !ok {
				return fmt.Errorf("%w: post_processor names %q, which is not there", ErrFormat, p.SpecialToken.ID)
			}
			*side = append(*side, entry.IDs...)
		}
	}
	return nil
}
