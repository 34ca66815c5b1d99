package model

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

// ErrArtefact is a file that is no artefact of ours, or is damaged.
var ErrArtefact = errors.New("classifier artefact")

// Reject is the label of texts that belong to no specialist. Every model has it.
const Reject = "reject"

const (
	magic     = "octetcls"
	format    = 1
	prefix    = len(magic) + 4 + 8 // magic, format, checksum of all behind it
	maxHeader = 4 << 20            // bytes
	maxRows   = 1 << 24
	maxLabels = 64
)

// Artefact is what training makes and a Model reads.
type Artefact struct {
	Labels      []string // Reject is one of them
	Temperature float64  // above 0; divides the sums before they become probabilities
	Doubt       float64  // in [0, 1): the share of an answer that is spread evenly, as some labels are wrong
	Bias        []float64
	Concepts    string // a list as parseConcepts takes it
	Origin      Origin
	Prose       Setting // of texts that are prose; without a temperature they have the settings of all
	Courtesy    Courtesy

	Keys    []uint32  // of the hashed features, ascending
	Rarity  []float32 // what a sight of one is worth, by row
	Scales  []float32 // what one step of a weight is worth, by row
	Weights []int8    // rows × labels
	Dense   []float32 // dense inputs × labels
}

// Origin says what an artefact was made from: for people.
type Origin struct {
	Seed    uint64   `json:"seed"`
	Data    string   `json:"data"` // hash of the texts and labels that it was trained on
	Samples int      `json:"samples"`
	Sources int      `json:"sources"`
	Keys    []uint32 `json:"source_keys,omitempty"` // SourceKey of each source, ascending
	// of the cross-validation that it was calibrated by; 0: on a split of its own
	Folds   int                `json:"folds,omitempty"`
	Figures map[string]float64 `json:"figures,omitempty"` // on the texts that it was calibrated by
}

type header struct {
	Labels      []string  `json:"labels"`
	Temperature float64   `json:"temperature"`
	Doubt       float64   `json:"doubt"`
	Bias        []float64 `json:"bias"`
	Concepts    string    `json:"concepts"`
	Rows        int       `json:"rows"`
	Dense       int       `json:"dense"`
	Origin      Origin    `json:"origin"`
	Prose       *Setting  `json:"prose,omitempty"`
	Courtesy    *courtesy `json:"courtesy,omitempty"`
}

// courtesy is what the header says of weights that stand behind all others.
type courtesy struct {
	Scale float64 `json:"scale"`
	Bias  float64 `json:"bias"`
}

// Encode returns the artefact as bytes: magic, format, checksum, length of the header, header as JSON, arrays in little
// endian.
func (a *Artefact) Encode() ([]byte, error) {
	h := header{Labels: a.Labels, Temperature: a.Temperature, Doubt: a.Doubt, Bias: a.Bias, Concepts: a.Concepts,
		Rows: len(a.Keys), Dense: len(a.Dense), Origin: a.Origin}
	if a.Prose != (Setting{}) {
		h.Prose = &a.Prose
	}
	if len(a.Courtesy.Weights) > 0 {
		h.Courtesy = &courtesy{a.Courtesy.Scale, a.Courtesy.Bias}
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := append([]byte(magic), make([]byte, prefix-len(magic))...)
	binary.LittleEndian.PutUint32(out[len(magic):], format)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(head)))
	out = append(out, head...)
	for _, k := range a.Keys {
		out = binary.LittleEndian.AppendUint32(out, k)
	}
	for _, floats := range [][]float32{a.Rarity, a.Scales, a.Dense} {
		for _, f := range floats {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
		}
	}
	for _, weights := range [][]int8{a.Weights, a.Courtesy.Weights} {
		for _, w := range weights {
			out = append(out, byte(w))
		}
	}
	binary.LittleEndian.PutUint64(out[prefix-8:], xxh3.Hash(out[prefix:]))
	return out, nil
}

// MaxBytes is the largest artefact that is read.
const MaxBytes = 256 << 20

// Read reads an artefact. Errors wrap ErrArtefact.
func Read(from io.Reader) (*Artefact, error) {
	raw, err := io.ReadAll(io.LimitReader(from, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArtefact, err)
	}
	return Decode(raw)
}

// Decode reads an artefact from bytes. Errors wrap ErrArtefact.
func Decode(raw []byte) (*Artefact, error) {
	h, rest, err := decodeHeader(raw)
	if err != nil {
		return nil, err
	}
	labels := len(h.Labels)
	polite := 0
	if h.Courtesy != nil {
		polite = h.Rows
	}
	if want := h.Rows*(12+labels) + polite + 4*h.Dense; len(rest) != want {
		return nil, fmt.Errorf("%w: %d bytes of weights, and %d rows of %d labels have %d", ErrArtefact, len(rest),
			h.Rows, labels, want)
	}
	a := &Artefact{Labels: h.Labels, Temperature: h.Temperature, Doubt: h.Doubt, Bias: h.Bias, Concepts: h.Concepts,
		Origin: h.Origin}
	a.Keys = make([]uint32, h.Rows)
	for i := range a.Keys {
		a.Keys[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	rest = rest[4*h.Rows:]
	a.Rarity, rest = floats(rest, h.Rows)
	a.Scales, rest = floats(rest, h.Rows)
	a.Dense, rest = floats(rest, h.Dense)
	a.Weights = bytesToWeights(rest[:len(rest)-polite])
	if h.Prose != nil {
		a.Prose = *h.Prose
	}
	if h.Courtesy != nil {
		a.Courtesy = Courtesy{h.Courtesy.Scale, h.Courtesy.Bias, bytesToWeights(rest[len(rest)-polite:])}
	}
	return a, a.check()
}

func bytesToWeights(raw []byte) []int8 {
	out := make([]int8, len(raw))
	for i, b := range raw {
		out[i] = int8(b)
	}
	return out
}

func floats(raw []byte, n int) ([]float32, []byte) {
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, raw[4*n:]
}

// decodeHeader checks what stands before the weights, and returns these.
func decodeHeader(raw []byte) (h header, rest []byte, err error) {
	if len(raw) < prefix+4 || string(raw[:len(magic)]) != magic {
		return h, nil, fmt.Errorf("%w: %d bytes that do not begin as one", ErrArtefact, len(raw))
	}
	if len(raw) > MaxBytes {
		return h, nil, fmt.Errorf("%w: more than %d bytes", ErrArtefact, MaxBytes)
	}
	if f := binary.LittleEndian.Uint32(raw[len(magic):]); f != format {
		return h, nil, fmt.Errorf("%w: format %d, this version reads %d", ErrArtefact, f, format)
	}
	if sum := binary.LittleEndian.Uint64(raw[prefix-8:]); sum != xxh3.Hash(raw[prefix:]) {
		return h, nil, fmt.Errorf("%w: the checksum is wrong", ErrArtefact)
	}
	n := int(binary.LittleEndian.Uint32(raw[prefix:]))
	rest = raw[prefix+4:]
	if n > len(rest) || n > maxHeader {
		return h, nil, fmt.Errorf("%w: a header of %d bytes", ErrArtefact, n)
	}
	if err := json.Unmarshal(rest[:n], &h); err != nil {
		return h, nil, fmt.Errorf("%w: %w", ErrArtefact, err)
	}
	if h.Rows < 0 || h.Rows > maxRows || h.Dense < 0 || h.Dense > maxRows {
		return h, nil, fmt.Errorf("%w: %d rows and %d dense weights", ErrArtefact, h.Rows, h.Dense)
	}
	return h, rest[n:], nil
}

// check finds what no training writes.
func (a *Artefact) check() error {
	if err := checkLabels(a.Labels); err != nil {
		return err
	}
	if len(a.Bias) != len(a.Labels) || len(a.Dense)%len(a.Labels) != 0 {
		return fmt.Errorf("%w: %d biases and %d dense weights for %d labels", ErrArtefact, len(a.Bias), len(a.Dense),
			len(a.Labels))
	}
	if !(a.Temperature > 0) || !(a.Doubt >= 0 && a.Doubt < 1) ||
		!finite64(append([]float64{a.Temperature}, a.Bias...)) {
		return fmt.Errorf("%w: temperature %v, doubt %v, biases %v", ErrArtefact, a.Temperature, a.Doubt, a.Bias)
	}
	if !finite(a.Rarity) || !finite(a.Scales) || !finite(a.Dense) {
		return fmt.Errorf("%w: a weight is no number, or too large", ErrArtefact)
	}
	for i := 1; i < len(a.Keys); i++ {
		if a.Keys[i] <= a.Keys[i-1] {
			return fmt.Errorf("%w: key %d is not above the one before", ErrArtefact, i)
		}
	}
	return a.checkCourtesy()
}

func checkLabels(labels []string) error {
	if len(labels) < 2 || len(labels) > maxLabels || !slices.Contains(labels, Reject) {
		return fmt.Errorf("%w: the labels %.200q: want 2 to %d, one of them %q", ErrArtefact, labels, maxLabels, Reject)
	}
	for i, l := range labels {
		if l == "" || slices.Contains(labels[:i], l) {
			return fmt.Errorf("%w: label %d, %.64q, is empty or twice there", ErrArtefact, i, l)
		}
	}
	return nil
}

// most is the largest weight that is believed: sums of many stay finite.
const most = 1e6

func finite(floats []float32) bool {
	return !slices.ContainsFunc(floats, func(f float32) bool { return !(f >= -most && f <= most) })
}

func finite64(floats []float64) bool {
	return !slices.ContainsFunc(floats, func(f float64) bool { return !(f >= -most && f <= most) })
}
