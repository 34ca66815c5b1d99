package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"octet/internal/program"
)

// scarceGateway is gateway for a process that may open so many files.
func scarceGateway(t *testing.T, files int, yaml string) (data, admin string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "octet.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	process, err := program.Start("/bin/sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" serve --config "$1"`, files),
		binary, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	m := (&running{process, t}).await(`msg=serving data=(\S+) admin=(\S+)`)
	return "http://" + m[1], "http://" + m[2]
}

// Clients that hold connections open, far more than the process may have files, take nothing from others: engines are
// reached, operators are answered, new clients too, and no replica is blamed.
func TestIdleConnectionsTakeNoDescriptorsFromEnginesAndOperators(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		t.Run(front, func(t *testing.T) {
			url := engine(t, "debug")
			data, admin := scarceGateway(t, 200, "front: "+front+"\n"+fmt.Sprintf(gatewayYAML, url))
			for i := range 400 {
				conn, err := net.Dial("tcp", strings.TrimPrefix(data, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if i%2 == 0 {
					fmt.Fprint(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
				}
			}
			client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			get := func(url string) (int, string) {
				t.Helper()
				resp, err := client.Get(url)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, _ := io.ReadAll(resp.Body)
				return resp.StatusCode, string(body)
			}
			for range 10 {
				resp, err := client.Post(data+"/v1/chat/completions", "application/json", strings.NewReader(ask))
				if err != nil {
					t.Fatal(err)
				}
				answer, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != 200 || !strings.Contains(string(answer), "[DONE]") {
					t.Errorf("a new client: status %d: %s", resp.StatusCode, answer)
				}
			}
			for _, path := range []string{data + "/readyz", admin + "/readyz", admin + "/livez"} {
				if status, body := get(path); status != 200 {
					t.Errorf("%s: status %d: %s", path, status, body)
				}
			}
			_, body := get(admin + "/admin/state")
			var state struct {
				Specialists []struct {
					Replicas []struct {
						Healthy bool
						Breaker string
					}
				}
			}
			if err := json.Unmarshal([]byte(body), &state); err != nil {
				t.Fatal(err)
			}
			if r := state.Specialists[0].Replicas[0]; !r.Healthy || r.Breaker != "closed" {
				t.Errorf("the replica is blamed: %+v", r)
			}
		})
	}
}
