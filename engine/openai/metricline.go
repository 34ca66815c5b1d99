package openai

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// sample is one series: the largest value that one data-parallel rank reports, for the tensor-parallel ranks below it
// report the same thing again.
type sample struct {
	labels []label // those of readLabels that it has
	value  float64
}

type label struct{ name, value string }

// readLabels are the labels that something is read from. Others are looked through and cost nothing.
var readLabels = []string{
	"engine", "dp_rank", "model_name", "num_gpu_blocks", "block_size", "max_lora", "running_lora_adapters",
	"waiting_lora_adapters",
}

// label returns the value of one of readLabels; "" where the series does not have it.
func (s sample) label(name string) string {
	if i := slices.IndexFunc(s.labels, func(l label) bool { return l.name == name }); i >= 0 {
		return s.labels[i].value
	}
	return ""
}

// rank tells the series apart that count different things.
func (s sample) rank() string {
	return strings.Join([]string{
		s.label("engine"), s.label("dp_rank"), s.label("model_name"), s.label("running_lora_adapters"),
		s.label("waiting_lora_adapters"),
	}, "\x00")
}

var errSeries = errors.New("a series is not labels, a value and perhaps a time")

// parseSeries reads what follows a metric's name on its line, in Prometheus' text format: {name="value",…} where
// there are labels, a value, and perhaps a time, which is dropped.
func parseSeries(text []byte) (s sample, err error) {
	text = bytes.TrimLeft(text, " \t")
	if len(text) > 0 && text[0] == '{' {
		if text, err = s.parseLabels(text[1:]); err != nil {
			return sample{}, err
		}
	}
	fields := bytes.Fields(text[:min(len(text), maxValue)])
	if len(text) > maxValue || len(fields) < 1 || len(fields) > 2 || bytes.ContainsAny(fields[0], "pP_") {
		return sample{}, errSeries
	}
	if s.value, err = strconv.ParseFloat(string(fields[0]), 64); err != nil {
		return sample{}, errSeries
	}
	if len(fields) == 2 {
		_, err = strconv.ParseInt(string(fields[1]), 10, 64)
	}
	return s, err
}

const maxValue = 128 // bytes of a value and a time with the space around them

// parseLabels reads labels and returns what is behind their closing brace.
func (s *sample) parseLabels(text []byte) ([]byte, error) {
	for {
		text = bytes.TrimLeft(text, " \t")
		if len(text) > 0 && text[0] == '}' {
			return text[1:], nil
		}
		name, rest, found := bytes.Cut(text, []byte{'='})
		name, rest = bytes.TrimRight(name, " \t"), bytes.TrimLeft(rest, " \t")
		if !found || !isLabel(name) || len(rest) == 0 || rest[0] != '"' {
			return nil, errSeries
		}
		end := closingQuote(rest[1:])
		if end < 0 {
			return nil, errSeries
		}
		s.keep(name, rest[1:1+end])
		text = bytes.TrimLeft(rest[end+2:], " \t")
		switch {
		case len(text) > 0 && text[0] == ',':
			text = text[1:]
		case len(text) == 0 || text[0] != '}':
			return nil, errSeries
		}
	}
}

// isLabel reports whether name is one of a label.
func isLabel(name []byte) bool {
	for i, c := range name {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(name) > 0
}

// closingQuote returns where a quoted value ends; -1 where it does not.
func closingQuote(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// unescaped are the three escapes of a label's value.
var unescaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

// keep notes a label that something is read from; the first one of a name.
func (s *sample) keep(name, value []byte) {
	i := slices.IndexFunc(readLabels, func(read string) bool { return read == string(name) })
	if i < 0 || slices.ContainsFunc(s.labels, func(l label) bool { return l.name == readLabels[i] }) {
		return
	}
	text := string(value)
	if bytes.IndexByte(value, '\\') >= 0 {
		text = unescaped.Replace(text)
	}
	s.labels = append(s.labels, label{readLabels[i], text})
}
