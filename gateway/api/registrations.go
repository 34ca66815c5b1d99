package api

import (
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
)

// Finder is what knows of replicas that no configuration lists. A nil Finder knows of none.
type Finder interface {
	// Register registers a replica by the JSON of a request, or renews its registration; fresh is true for the former.
	Register(body []byte) (r Registration, fresh bool, refused *apierr.Error)
	// Deregister ends a registration; the replica goes once it is idle.
	Deregister(replica string) (Registration, *apierr.Error)
	// LeaseEnds returns when the registration of a replica ends; zero if it has none.
	LeaseEnds(replica string) time.Time
	// Sources returns what each source has found.
	Sources() DiscoveryState
}

// Registration is a replica in the answers of /admin/replicas.
type Registration struct {
	Name       string    `json:"name"`
	Specialist string    `json:"specialist"`
	URL        string    `json:"url"`
	TTL        string    `json:"ttl,omitempty"`
	LeaseEnds  time.Time `json:"lease_ends,omitzero"` // zero once it has ended
	InFlight   int       `json:"in_flight"`
}

// DiscoveryState is discovery in GET /admin/state.
type DiscoveryState struct {
	Sources []SourceState `json:"sources"`
	Left    []string      `json:"left"`    // replicas that are found no more, and are kept for a while
	Pending int           `json:"pending"` // replicas that wait for a slot
}

// SourceState is one source of the replicas of a specialist.
type SourceState struct {
	Specialist string    `json:"specialist"`
	Source     string    `json:"source"` // file | dns | kubernetes | lease
	State      string    `json:"state"`  // ok | failing
	Since      time.Time `json:"since,omitzero"`
	Error      string    `json:"error,omitempty"`
	Failures   uint64    `json:"failures"`
	Replicas   int       `json:"replicas"`      // that it found last
	Refused    int       `json:"refused"`       // of what it found
	Why        any       `json:"why,omitempty"` // they were: the first of them
}

// Registrations answers /admin/replicas.
type Registrations struct {
	Refuse Refuse
	Finder Finder
}

// Register registers a replica, or renews its registration.
func (h Registrations) Register(c *gin.Context) {
	if h.absent(c) {
		return
	}
	text, err := io.ReadAll(io.LimitReader(c.Request.Body, MaxBody+1))
	if err != nil {
		h.Refuse(c, &apierr.Error{Code: apierr.InvalidRequest, Message: "the body could not be read", Cause: err})
		return
	}
	if len(text) > MaxBody {
		h.Refuse(c, apierr.New(apierr.PayloadTooLarge, "", "a registration is at most 16 KiB"))
		return
	}
	r, fresh, refused := h.Finder.Register(text)
	switch {
	case refused != nil:
		h.Refuse(c, refused)
	case fresh:
		c.JSON(http.StatusCreated, r)
	default:
		c.JSON(http.StatusOK, r)
	}
}

// Deregister ends a registration.
func (h Registrations) Deregister(c *gin.Context) {
	if h.absent(c) {
		return
	}
	r, refused := h.Finder.Deregister(c.Param("replica"))
	if refused != nil {
		h.Refuse(c, refused)
		return
	}
	c.JSON(http.StatusAccepted, r)
}

func (h Registrations) absent(c *gin.Context) bool {
	if h.Finder == nil {
		h.Refuse(c, apierr.New(apierr.InvalidRequest, "", "this gateway takes no registrations"))
		return true
	}
	return false
}
