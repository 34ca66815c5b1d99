package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"octet/internal/await"
)

// fleetState is what GET /admin/state says of replicas, and of the source that finds them.
type fleetState struct {
	Discovery struct {
		Sources []struct {
			State, Error string
			Failures     int
			Replicas     int
		}
		Left []string
	}
	Specialists []struct{ Replicas []struct{ Name, URL string } }
}

func stateOf(t *testing.T, admin string) (s fleetState) {
	t.Helper()
	resp, err := http.Get(admin + "/admin/state")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil || len(s.Discovery.Sources) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	return s
}

// serving returns the replicas that take requests as name=url, sorted.
func (s fleetState) serving() string {
	var all []string
	for _, r := range s.Specialists[0].Replicas {
		if !slices.Contains(s.Discovery.Left, r.Name) {
			all = append(all, r.Name+"="+r.URL)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

const kubeYAML = `
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
limits: {drain: 20s}
fleet: {probe_interval: 200ms, discovery: {settle: 10ms, keep: 1h}}
specialists:
  - name: debug
    tokenizer: builtin
    sleep: {hold: 0s}
    discover: {kubernetes: {service: vllm, port: http, kubeconfig: '%s'}, template: {blocks: 512, engine: vllm}}
`

// Against a real kube-apiserver over a real etcd: what RBAC refuses is said and tried again; endpoints come, become
// unready, move and are deleted; those of another namespace are none of ours; while the API server is away the last
// set stays and the failure is shown, and after it has started anew what changed is found.
func TestEndpointSlicesOfARealAPIServer(t *testing.T) {
	k, host := newCluster(t), outward(t)
	k.namespace("ml")
	k.namespace("other")
	engineAt := func() string {
		return start(t, "engine", "--listen", host+":0", "--model", "debug", "--step", "1ms", "--blocks", "512").
			await(`(http://` + strings.ReplaceAll(host, ".", `\.`) + `:\d+)`)[1]
	}
	a, b, c := engineAt(), engineAt(), engineAt()
	k.pod("ml", "pod-a", a, true)
	k.pod("other", "pod-x", c, true)

	_, data, admin, _ := gateway(t, fmt.Sprintf(kubeYAML, k.kubeconfig()))
	source := func() string { s := stateOf(t, admin).Discovery.Sources[0]; return s.State + " " + s.Error }
	serving := func(what, want string) {
		t.Helper()
		last := ""
		await.True(t, what, func() bool {
			if now := stateOf(t, admin).serving(); now != last {
				last = now
				t.Logf("%s: serving %q", what, now)
			}
			return last == want
		})
	}
	answers := func(want int) {
		t.Helper()
		if status, text := post(t, data+"/v1/chat/completions", ask); status != want {
			t.Errorf("%d, want %d: %s", status, want, text)
		}
	}
	await.True(t, "what RBAC refuses is said", func() bool {
		return strings.HasPrefix(source(), "failing ") && strings.Contains(source(),
			`the account needs list and watch of endpointslices.discovery.k8s.io in namespace "ml"`)
	})
	answers(http.StatusServiceUnavailable)
	k.allow()
	serving("a comes once the account is allowed", "pod-a="+a)
	answers(http.StatusOK)
	k.pod("ml", "pod-b", b, false)
	k.pod("ml", "pod-c", c, true)
	serving("c comes, b is not ready", "pod-a="+a+" pod-c="+c)
	k.pod("ml", "pod-b", b, true)
	serving("b is ready", "pod-a="+a+" pod-b="+b+" pod-c="+c)
	k.pod("ml", "pod-a", a, false)
	serving("a is not ready any more", "pod-b="+b+" pod-c="+c)
	k.remove(slicesOf("ml"), "vllm-pod-c")
	serving("c is deleted", "pod-b="+b)
	k.pod("ml", "pod-b", c, true)
	serving("b moves", "pod-b="+c)
	answers(http.StatusOK)

	k.stop()
	await.True(t, "that the API server is away is shown", func() bool {
		return strings.HasPrefix(source(), "failing ")
	})
	serving("the last set stays", "pod-b="+c)
	answers(http.StatusOK)
	k.start(os.Getenv("OCTET_KUBE_APISERVER"))
	k.pod("ml", "pod-a", b, true)
	serving("what changed is found after it is back", "pod-a="+b+" pod-b="+c)
	await.True(t, "it is shown to be back", func() bool { return source() == "ok " })

	k.forbid() // a watch that runs goes on: it is the next one that is refused
	k.stop()
	k.start(os.Getenv("OCTET_KUBE_APISERVER"))
	await.True(t, "what was allowed is refused", func() bool { return strings.Contains(source(), "the account needs") })
	serving("the last set stays", "pod-a="+b+" pod-b="+c)
	answers(http.StatusOK)
	k.allow()
	k.remove(slicesOf("ml"), "vllm-pod-a")
	serving("it is allowed again", "pod-b="+c)
}
