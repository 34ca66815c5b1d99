package classifier

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"octet/classifier/model"
)

// MEGA-06, MEGA-19
func TestTheTrainedModelSpreadsProbabilityOverTheSpecialistsAndReject(t *testing.T) {
	c := cascade(t, func(c *Config) { c.Model = builtin(t) })
	for _, row := range []struct{ text, want string }{
		{"A bounded lock-free MPMC ring with compare_exchange_weak and acquire/release: where can two producers race?",
			"concurrency"},
		{
			"My arena allocator returns misaligned pointers; how do I bump to alignof(T) before I carve a chunk off " +
				"the page?", "memory"},
		{"Which iterators does erase on std::unordered_map invalidate, and does rehash move the nodes between buckets?",
			"stl"},
		{
			"Non-blocking sockets on epoll: recv returns EAGAIN though the peer has closed the TCP connection. Which " +
				"errno?", "systems"},
	} {
		v, err := c.Classify(Input{Text: []byte(row.text)})
		if err != nil || v.Specialist != row.want || v.RoutedBy != ByClassifier || v.Degraded != nil {
			t.Errorf("%.40s: %s by %s, %.2f, %v, %v", row.text, v.Specialist, v.RoutedBy, v.Probabilities, v.Degraded,
				err)
			continue
		}
		total := 0.0
		for _, p := range v.Probabilities {
			total += p
		}
		if len(v.Probabilities) != len(eight) || total <= 0.5 || total > 1 ||
			v.Confidence != slices.Max(v.Probabilities) || v.Second == "" {
			t.Errorf("%.40s: %+v", row.text, v)
		}
	}
}

// MEGA-10
func TestWhatBelongsToNobodyIsRejectedAndNotDegraded(t *testing.T) {
	for _, text := range []string{
		"Simmer the onions in butter, add the rice and a glass of wine, and stir until it is creamy.",
		"fn main() {\n    let mut names: Vec<String> = Vec::new();\n    names.push(String::from(\"Ada\"));\n    " +
			"println!(\"{:?}\", names);\n}\n",
		"Write a friendly letter to my neighbour about the garden party on Saturday.",
	} {
		v, err := cascade(t, func(c *Config) { c.Model = builtin(t) }).Classify(Input{Text: []byte(text)})
		if err != nil || v.RoutedBy != ByFallback || v.Rule != "reject class" || v.Degraded != nil {
			t.Errorf("%.40s: %s by %s, %q, %.2f, %v", text, v.Specialist, v.RoutedBy, v.Rule, v.Probabilities, err)
		}
	}
}

// MEGA-05
func TestAnEnsembleOfOtherNamesTakesTheLabelsThatItNames(t *testing.T) {
	m, err := model.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	bound, err := m.Bind([]string{"locks", "rest"}, map[string]string{"Concurrency": "locks"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Specialists: []string{"locks", "rest"}, Fallback: "rest", Model: bound})
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Classify(Input{
		Text: []byte("std::mutex and condition_variable: two threads miss the notify and wait for ever")})
	if err != nil || v.Specialist != "locks" {
		t.Fatalf("%+v, %v", v, err)
	}
	v, err = c.Classify(Input{
		Text: []byte("shortest paths in a weighted graph with Dijkstra and a binary heap of vertices")})
	if err != nil || v.Specialist != "rest" || v.Rule != "reject class" {
		t.Fatalf("what no specialist is for: %+v, %v", v, err)
	}
}

func TestNoTextBreaksTheCascade(t *testing.T) {
	c := cascade(t, func(c *Config) { c.Model = builtin(t) })
	for name, text := range map[string][]byte{
		"empty": nil, "blanks": []byte(" \n\t\r\n"), "binary": {0, 255, 254, 128, 1, '=', '=', '\n'},
		"invalid UTF-8": []byte("\xc3\x28\xa0\xa1 \xe2\x82"),
		"one letter":    bytes.Repeat([]byte("a"), 100<<20), "one sign": bytes.Repeat([]byte("<"), 8<<20),
		"newlines":   bytes.Repeat([]byte("\n"), 8<<20),
		"long lines": []byte(strings.Repeat("x_y ", 1<<20)),
	} {
		v, err := c.Classify(Input{Text: text})
		if err != nil || v.Specialist == "" || v.Degraded != nil {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"", prose, sfinae, trace, "\x00\xff", "R\"(", "/*", "''''", "a_B9__c std::",
		strings.Repeat("#", 100)} {
		f.Add([]byte(s), "user")
	}
	c, err := New(Config{Specialists: eight, Fallback: "algo", Detectors: true, Model: builtin(f)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, role string) {
		once, err := c.Classify(Input{Turns: []Turn{{role, text}, {"user", text}}})
		if err != nil || once.Degraded != nil || once.Specialist == "" {
			t.Fatalf("%+v, %v", once, err)
		}
		again, _ := c.Classify(Input{Turns: []Turn{{role, text}, {"user", text}}})
		if again.Specialist != once.Specialist || !slices.Equal(again.Probabilities, once.Probabilities) {
			t.Fatalf("%+v, then %+v", once, again)
		}
	})
}
