package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document parses text into the root node of its only document; an empty file is an empty mapping.
func document(text []byte) (*yaml.Node, *Fault) {
	if len(text) > maxFile {
		return nil, &Fault{Path: rootPath, Code: CodeTooLarge, Message: fmt.Sprintf("more than %d bytes", maxFile)}
	}
	if !utf8.Valid(text) {
		return nil, invalidText(text)
	}
	in := yaml.NewDecoder(bytes.NewReader(text))
	first, err := next(in)
	if errors.Is(err, io.EOF) {
		return emptyMapping(), nil
	}
	if err != nil {
		return nil, syntaxFault(err, text)
	}
	second, err := next(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, syntaxFault(err, text)
	}
	if err == nil {
		at := place{line: second.Line, column: second.Column}
		return nil, &Fault{Path: rootPath, Code: CodeMultiDocument, Message: "one document a file" + at.suffix(),
			Line: at.line, Column: at.column}
	}
	root := first.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == nullTag {
		return emptyMapping(), nil
	}
	return root, nil
}

// next reads one document. The parser reports some impossible states by panicking: on hostile input they are syntax
// errors.
func next(in *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("yaml: %v", bug)
		}
	}()
	doc = &yaml.Node{}
	return doc, in.Decode(doc)
}

func emptyMapping() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: mapTag, Line: 1, Column: 1}
}

// invalidText notes the first byte that is not UTF-8.
func invalidText(text []byte) *Fault {
	line := 1
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		rest = rest[n:]
	}
	return &Fault{Path: rootPath, Code: CodeSyntax, Message: "not UTF-8" + place{line: line}.suffix(), Line: line}
}

var (
	syntaxLine    = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	countedFrom0  = regexp.MustCompile(`^did not find expected (?:key|node content|',' or|'-' indicator)`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
)

// syntaxFault reads the parser's error. The parser leaves out the line where it is the first, counts lines from 0 in
// the errors of its grammar but from 1 in those of its tokens, and names no line for an anchor.
func syntaxFault(err error, text []byte) *Fault {
	message, line := err.Error(), 1
	if parts := syntaxLine.FindStringSubmatch(message); parts != nil {
		message = message[len(parts[0]):]
		if n, err := strconv.Atoi(parts[1]); err == nil {
			line = n
			if countedFrom0.MatchString(message) {
				line++
			}
		}
	}
	if anchor := unknownAnchor.FindStringSubmatch(message); anchor != nil {
		if at := bytes.Index(text, []byte("*"+anchor[1])); at >= 0 {
			line = 1 + bytes.Count(text[:at], []byte("\n"))
		}
	}
	return &Fault{Path: rootPath, Code: CodeSyntax, Message: clip(message) + place{line: line}.suffix(), Line: line}
}
