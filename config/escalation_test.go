package config

import (
	"strings"
	"testing"
)

func TestEscalationsStepsComeInOrder(t *testing.T) {
	for escalation, want := range map[string]string{
		"{relax: 0.5}": "slo.escalation.relax: conflict: 0.5 is not below divert, 0.5",
		"{ease: 0.9}":  "slo.escalation.ease: conflict: 0.9 is not below shed, 0.8",
		"{shed: 0.4, ease: 0.3}": "slo.escalation.shed: conflict: 0.4 is below divert, 0.5: the second step comes " +
			"after the first",
		"{divert: 0.6, relax: 0.4}": "",
	} {
		text := "specialists: [{name: coder, slo: {escalation: " + escalation + "}, replicas: [{url: 'http://h:1'}]}]\n"
		_, err := Parse("test.yaml", []byte(text), Options{Presets: presets})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", escalation, err)
		}
	}
}
