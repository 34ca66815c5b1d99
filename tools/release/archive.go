package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive, by its path there.
type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// pack returns a tar.gz of files below a folder. It depends on nothing else: files are in the order of their names, all
// of one time and of no owner.
func pack(folder string, files []file, at time.Time) ([]byte, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zip)
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(folder, f.name), Mode: int64(f.mode.Perm()),
			Size: int64(len(f.content)), ModTime: at, Format: tar.FormatPAX}
		if err := archive.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err = zip.Close()
	return out.Bytes(), err
}
