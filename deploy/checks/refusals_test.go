package checks

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Wrong values are refused, with the place that is wrong, before anything is applied.
func TestWrongValuesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ values, place string }{
		"an unknown key":                   {`replica: 3`, "replica"},
		"an unknown key, deep":             {`service: {ports: 80}`, "ports"},
		"a number as a text":               {`replicas: "2"`, "replicas"},
		"fewer replicas than none":         {`replicas: -1`, "replicas"},
		"a port that there is not":         {`service: {port: 65536}`, "port"},
		"a type that there is not":         {`service: {type: ExternalName}`, "type"},
		"a pull policy":                    {`image: {pullPolicy: Sometimes}`, "pullPolicy"},
		"no repository":                    {`image: {repository: ""}`, "repository"},
		"no specialist":                    {`config: {specialists: []}`, "specialists"},
		"a specialist without a name":      {`config: {specialists: [{replicas: []}]}`, "name"},
		"a listener":                       {`config: {listen: {data: ":9000"}}`, "listen"},
		"certificates without their mount": {`config: {listen: {tls: {cert: a, key: b}}}`, "listen"},
		"certificates of administrators":   {`config: {listen: {admin_tls: {cert: a, key: b}}}`, "listen"},
		"authorities of clients alone":     {`tls: {clientCA: true}`, "tls"},
		"a Secret that none can be":        {`tls: {secret: A_B}`, "secret"},
		"authorities of administrators":    {`adminTLS: {secret: a, clientCA: true}`, "clientCA"},
		"a token in the configuration":     {`config: {admin: {token: "abcdefghijklmnopqrstuvwxyz"}}`, "admin"},
		"a drain in the configuration":     {`config: {limits: {drain: 60s}}`, "limits"},
		"a drain with a unit":              {`shutdown: {drain: 30s}`, "drain"},
		"a stop of no time":                {`shutdown: {stop: 0}`, "stop"},
		"a secret without the token":       {`secret: {existing: "", create: true}`, "OCTET_ADMIN_TOKEN"},
		"a short token": {`secret: {existing: "", create: true, values: {OCTET_ADMIN_TOKEN: short}}`,
			"OCTET_ADMIN_TOKEN"},
		"a secret both made and named": {`secret: {create: true, values: {OCTET_ADMIN_TOKEN: abcdefghijklmnopqrst}}`,
			"existing"},
		"a variable that none can be":   {`secret: {values: {"A B": x}}`, "values"},
		"neither secret":                {`secret: {existing: ""}`, "secret.existing"},
		"a namespace in capitals":       {`discovery: {namespaces: [ML]}`, "namespaces"},
		"KEDA without Prometheus":       {`keda: {enabled: true}`, "prometheus"},
		"a threshold that is no number": {`keda: {threshold: high}`, "threshold"},
		"two that scale": {`{autoscaling: {enabled: true}, keda: {enabled: true, prometheus: "http://p"}}`,
			"both"},
		"an HPA that looks at nothing":  {`autoscaling: {enabled: true, cpu: 0}`, "nothing would be looked at"},
		"monitoring that is kept out":   {`serviceMonitor: {enabled: true}`, "networkPolicy.monitoring"},
		"a budget of nothing":           {`podDisruptionBudget: {maxUnavailable: 0}`, "maxUnavailable"},
		"an interval without a unit":    {`serviceMonitor: {interval: "15"}`, "interval"},
		"an annotation that is no text": {`podAnnotations: {a: 1}`, "podAnnotations"},
	} {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{}
			if err := yaml.Unmarshal([]byte(c.values), &values); err != nil {
				t.Fatal(err)
			}
			secret, _ := values["secret"].(map[string]any)
			if secret == nil {
				secret = map[string]any{}
				values["secret"] = secret
			}
			if _, set := secret["existing"]; !set {
				secret["existing"] = "octet-keys"
			}
			if _, err := render(values); err == nil || !strings.Contains(err.Error(), c.place) {
				t.Errorf("%v", err)
			}
		})
	}
}
