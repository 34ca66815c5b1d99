package adminclient

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"octet/gateway/api"
	"octet/gateway/live"
	"octet/slo"
)

// StateWithoutAdapters is State without the adapters of replicas, which make up most of it.
func (c *Client) StateWithoutAdapters(ctx context.Context) (*api.EnsembleState, error) {
	s := new(api.EnsembleState)
	return s, c.find(ctx, s, url.Values{"adapters": {"none"}}, "admin", "state")
}

// SLOs returns the reports of all specialists, by name.
func (c *Client) SLOs(ctx context.Context) (map[string]slo.Report, error) {
	var all struct {
		Specialists map[string]slo.Report `json:"specialists"`
	}
	err := c.Get(ctx, &all, "admin", "slo")
	return all.Specialists, err
}

// Breakers are the states of all breakers.
type Breakers struct {
	Replicas    map[string]string              `json:"replicas"`
	Specialists map[string]SpecialistsBreakers `json:"specialists"`
}

// SpecialistsBreakers are the breakers of one specialist.
type SpecialistsBreakers struct {
	Correctness slo.BreakerState     `json:"correctness"`
	Load        *slo.EscalationState `json:"load"` // nil if load never escalates
}

// Breakers returns the states of all breakers.
func (c *Client) Breakers(ctx context.Context) (b Breakers, err error) {
	err = c.Get(ctx, &b, "admin", "breakers")
	return b, err
}

// Requests returns the requests that are open for the longest time, at most so many, the eldest first.
func (c *Client) Requests(ctx context.Context, most int) ([]api.OpenRequest, error) {
	var open api.OpenRequests
	err := c.find(ctx, &open, url.Values{"most": {strconv.Itoa(most)}}, "admin", "requests")
	return open.Requests, err
}

// longestEvent bounds a line of a stream of events.
const longestEvent = 1 << 20

// Decisions tells each of the decisions that end until ctx does, as far as the gateway samples them. It returns why it
// ended: ctx's cause, or a Failure.
func (c *Client) Decisions(ctx context.Context, each func(live.Event)) error {
	req, err := c.request(ctx, http.MethodGet, "/admin/decisions", nil)
	if err != nil {
		return err
	}
	endless := *c.http
	endless.Timeout = 0 // a stream lasts; its head has a timeout of the transport's
	resp, err := endless.Do(req)
	if err != nil {
		return c.down(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		answer, err := io.ReadAll(io.LimitReader(resp.Body, longestEvent))
		if err != nil {
			return c.down(ctx, err)
		}
		return c.refusal(resp.StatusCode, answer)
	}
	return c.events(ctx, resp.Body, each)
}

// events reads a stream of server-sent events; those that have a name are no decisions.
func (c *Client) events(ctx context.Context, from io.Reader, each func(live.Event)) error {
	lines, named := bufio.NewScanner(from), false
	lines.Buffer(nil, longestEvent)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case lines.Text() == "":
			named = false
		case strings.HasPrefix(lines.Text(), "event:"):
			named = true
		case isData && !named:
			var e live.Event
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				return &Failure{Kind: ErrAnswer, Cause: err,
					Message: fmt.Sprintf("%s tells decisions, but not as a gateway's admin listener does", c.URL())}
			}
			each(e)
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return c.down(ctx, err)
}
