package main

import "testing"

// Locks become the library's, in declarations, fields, literals and embedded; all else stays as it is.
func TestLocksBecomeTheLibrarys(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a lock, and nothing else of sync": {
			"package p\n\nimport (\n\t\"os\"\n\t\"sync\"\n)\n\ntype a struct {\n\tmu sync.Mutex // guards all below\n" +
				"\tf  *os.File\n}\n",
			"package p\n\nimport (\n\tdeadlock \"github.com/sasha-s/go-deadlock\"\n\t\"os\"\n)\n\ntype a struct {\n" +
				"\tmu deadlock.Mutex // guards all below\n\tf  *os.File\n}\n",
		},
		"others of sync": {
			"package p\n\nimport \"sync\"\n\nvar once sync.Once\nvar mu = new(sync.RWMutex)\n\n" +
				"type e struct{ sync.Mutex }\n",
			"package p\n\nimport (\n\tdeadlock \"github.com/sasha-s/go-deadlock\"\n\t\"sync\"\n)\n\n" +
				"var once sync.Once\n" +
				"var mu = new(deadlock.RWMutex)\n\ntype e struct{ deadlock.Mutex }\n",
		},
		"none": {
			"package p\n\nimport \"sync\"\n\nvar  once sync.Once\n",
			"package p\n\nimport \"sync\"\n\nvar  once sync.Once\n",
		},
		"another Mutex": {
			"package p\n\nimport \"q\"\n\nvar  m q.Mutex\n",
			"package p\n\nimport \"q\"\n\nvar  m q.Mutex\n",
		},
	} {
		got, of, err := relock([]byte(c.source))
		if err != nil || string(got) != c.want || (of == "p") != (c.want != c.source) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}
