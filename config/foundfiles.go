package config

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// FoundFiles is what the files of specialists[].discover say.
type FoundFiles struct {
	Replicas int      // that they list
	Absent   []string // files that do not exist: no fault, for they may be written later
}

// ReadFiles reads the files of specialists[].discover as serving does. c has passed its checks, and is called path in
// messages. The error, if any, is *Faults: what is wrong in each file, and what the files list that cannot stand beside
// each other or beside what c lists. Line and Column of a fault are those in its File.
func (c *Config) ReadFiles(path string, o Options) (FoundFiles, error) {
	r := fileReader{faults: &Faults{File: path}, found: map[string][]Replica{}, lists: map[string]*foundList{}}
	for i := range c.Specialists {
		if s := &c.Specialists[i]; s.Discover != nil && s.Discover.File != "" {
			r.read(s, item("specialists", i)+".discover.file", o)
		}
	}
	_, refused := Join(c, r.found, o)
	for _, one := range refused {
		r.refuse(&one)
	}
	if len(r.faults.List) > 0 {
		return r.out, r.faults
	}
	return r.out, nil
}

// fileReader reads the files of one configuration.
type fileReader struct {
	out    FoundFiles
	faults *Faults
	found  map[string][]Replica  // by specialist
	lists  map[string]*foundList // likewise
}

// foundList is the file of one specialist.
type foundList struct {
	path, file string       // of the key, and of the file
	places     *decoder     // of its entries
	entries    []int        // of each replica found: an entry of several ranks has several
	faulty     map[int]bool // entries that are at fault beside others
}

func (r *fileReader) read(s *Specialist, path string, o Options) {
	file := s.Discover.File
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		r.out.Absent = append(r.out.Absent, file)
		return
	}
	l := &foundList{path: path, file: file, places: newDecoder(o), faulty: map[int]bool{}}
	all, err := s.readFound(l.places, file, "file")
	var faults *Faults
	if errors.As(err, &faults) {
		for _, fault := range faults.List {
			r.add(l, fault)
		}
		return // what it lists is not taken, as when serving
	}
	r.lists[s.Name] = l
	for i := range all {
		if r.out.Replicas > MaxReplicas {
			return // one too many says that there are
		}
		ranks := all[i].Expand()
		r.out.Replicas += len(ranks)
		r.found[s.Name] = append(r.found[s.Name], ranks...)
		for range ranks {
			l.entries = append(l.entries, i)
		}
	}
}

// refuse adds what is wrong with an entry beside others, once. Of two that are alike the last one is at fault.
func (r *fileReader) refuse(one *Refused) {
	all, l := r.found[one.Specialist], r.lists[one.Specialist]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Name != one.Replica.Name || all[i].URL != one.Replica.URL {
			continue
		}
		entry, fault := l.entries[i], one.Fault
		if l.faulty[entry] {
			return
		}
		l.faulty[entry] = true
		if fault.Path == "dp_rank" && !l.places.given(item("", entry)+".dp_rank") {
			fault.Path = "ranks" // the entry stands for them
		}
		fault.Path = strings.TrimSuffix(item("", entry)+"."+fault.Path, ".")
		at := l.places.nearest(fault.Path)
		fault.Line, fault.Column, fault.Message = at.line, at.column, fault.Message+at.suffix()
		r.add(l, fault)
		return
	}
}

// add adds a fault by its path within a list.
func (r *fileReader) add(l *foundList, fault Fault) {
	if within := strings.TrimPrefix(fault.Path, rootPath); strings.HasPrefix(within, "[") {
		fault.Path = l.path + within
	} else {
		fault.Path = l.path
	}
	fault.File, fault.Message = l.file, l.file+": "+fault.Message
	r.faults.List = append(r.faults.List, fault)
}
