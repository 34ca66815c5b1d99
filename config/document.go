package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// document parses text into the root node of its only document; an empty file is an empty mapping.
func document(text []byte) (*yaml.Node, *Fault) {
	if len(text) > maxFile {
		return nil, &Fault{Path: rootPath, Code: CodeTooLarge, Message: fmt.Sprintf("more than %d bytes", maxFile)}
	}
	in := yaml.NewDecoder(bytes.NewReader(text))
	first, err := next(in)
	if errors.Is(err, io.EOF) {
		return emptyMapping(), nil
	}
	if err != nil {
		return nil, syntaxFault(err)
	}
	second, err := next(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, syntaxFault(err)
	}
	if err == nil {
		at := place{line: second.Line, column: second.Column}
		return nil, &Fault{Path: rootPath, Code: CodeMultiDocument, Message: "one document a file" + at.suffix(), Line: at.line, Column: at.column}
	}
	root := first.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == nullTag {
		return emptyMapping(), nil
	}
	return root, nil
}

// next reads one document. The parser reports some impossible states by panicking: on hostile input they are syntax errors.
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

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func syntaxFault(err error) *Fault {
	parts := syntaxLine.FindStringSubmatch(err.Error())
	if parts == nil {
		return &Fault{Path: rootPath, Code: CodeSyntax, Message: err.Error()}
	}
	line, _ := strconv.Atoi(parts[1]) // no line: 0
	at := place{line: line}
	return &Fault{Path: rootPath, Code: CodeSyntax, Message: err.Error()[len(parts[0]):] + at.suffix(), Line: line}
}
