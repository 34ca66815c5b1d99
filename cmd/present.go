package cmd

import (
	"encoding/json"
	"errors"
	"io"
	"os"
)

// present writes figures as a report command is asked to: as JSON alone to w where path is "-", else as JSON into the
// file at path, if there is one, and as text by asText.
func present(w io.Writer, path string, figures any, asText func() error) error {
	asJSON := func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(figures)
	}
	switch path {
	case "-":
		return asJSON(w)
	case "":
	default:
		if err := writeFile(path, asJSON); err != nil {
			return err
		}
	}
	return asText()
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}
