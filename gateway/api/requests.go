package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/slo"
)

// How many requests GET /admin/requests tells.
const (
	RequestsTold     = 20 // unless the parameter most says otherwise
	MostRequestsTold = 100
)

// OpenRequest is a request at a replica, as GET /admin/requests tells it.
type OpenRequest struct {
	ID         string    `json:"request_id"`
	Specialist string    `json:"specialist"`
	Replica    string    `json:"replica"`
	Tenant     string    `json:"tenant,omitempty"`
	Adapter    string    `json:"adapter,omitempty"`
	Priority   int       `json:"priority"`         // as age has lifted it
	Shadow     bool      `json:"shadow,omitempty"` // the copy of a request: it has that one's id
	Stage      string    `json:"stage"`            // waiting | prefilling | answering | yielding
	Arrived    time.Time `json:"arrived"`          // at the gateway
	AgeMs      int64     `json:"age_ms"`
	QueuedMs   int64     `json:"queued_ms"` // at this replica
	Prompt     int       `json:"prompt_tokens"`
	Completion int       `json:"completion_tokens"` // as of the last block that was reported
	Blocks     int       `json:"blocks"`            // that it holds
}

// OpenRequests answers GET /admin/requests.
type OpenRequests struct {
	Requests []OpenRequest `json:"requests"`
}

// Requests answers /admin/requests: those at replicas that are open for the longest time, the eldest first. It reads
// what Gates know, so that requests keep no list of themselves.
type Requests struct {
	Refuse  Refuse
	Current Current
	Leaving Leaving
	Now     func() time.Time
}

// Leaving returns the replicas that a reload has taken out and that still have requests. A nil Leaving has none.
type Leaving func() []*ensemble.Replica

func (l Leaving) replicas() []*ensemble.Replica {
	if l == nil {
		return nil
	}
	return l()
}

// Handle answers with as many requests as the parameter most says; specialist and replica choose.
func (h Requests) Handle(c *gin.Context) {
	most := RequestsTold
	if asked := c.Query("most"); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 || n > MostRequestsTold {
			h.Refuse(c, apierr.New(apierr.InvalidValue, "most",
				fmt.Sprintf("most is 1 to %d, not %.32q", MostRequestsTold, asked)))
			return
		}
		most = n
	}
	specialist, replica := c.Query("specialist"), c.Query("replica")
	open, now, rt := []OpenRequest{}, h.Now(), h.Current()
	for _, rep := range slices.Concat(rt.Replicas[:], h.Leaving.replicas()) {
		if rep == nil || specialist != "" && specialist != rep.Fleet.Spec().Specialist ||
			replica != "" && replica != rep.Name {
			continue
		}
		open = eldest(append(open, requestsAt(rep, most, now)...), most)
	}
	c.JSON(http.StatusOK, OpenRequests{open})
}

// eldest returns the first of a list by arrival, at most so many.
func eldest(list []OpenRequest, most int) []OpenRequest {
	slices.SortStableFunc(list, func(a, b OpenRequest) int {
		return cmp.Or(a.Arrived.Compare(b.Arrived), cmp.Compare(a.Replica, b.Replica))
	})
	return list[:min(len(list), most)]
}

func requestsAt(rep *ensemble.Replica, most int, now time.Time) []OpenRequest {
	held := rep.Gate.Eldest(most)
	list := make([]OpenRequest, len(held))
	for i := range held {
		h := &held[i]
		list[i] = OpenRequest{ID: h.ID, Specialist: rep.Fleet.Spec().Specialist, Replica: rep.Name, Tenant: h.Tenant,
			Adapter: h.Adapter, Priority: h.Priority, Shadow: h.Priority < slo.LeastPriority, Stage: string(h.Stage),
			Arrived: h.Arrived, AgeMs: max(now.Sub(h.Arrived).Milliseconds(), 0), QueuedMs: h.Waited.Milliseconds(),
			Prompt: h.Prompt, Completion: h.Generated, Blocks: h.Blocks}
	}
	return list
}
