package api

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/routing/index"
)

// Index is what is shown of the block index.
type Index interface {
	Host(h index.HostID) index.HostState
	Stats() index.Stats
	Digest() uint64
}

// Knowledge is what the gateway believes about caches, and why.
type Knowledge interface {
	// Replica returns what is known of one replica's cache, and why, as JSON takes it.
	Replica(name string, h index.HostID) map[string]any
	// Sources returns how each source of events is doing, as JSON takes it.
	Sources() map[string]any
	// Save writes all that is known, for another gateway to load.
	Save(w io.Writer) error
}

// Caches answers /admin/index.
type Caches struct {
	Refuse    Refuse
	Current   Current
	Index     Index
	Knowledge Knowledge // nil if the index is all there is
	Log       *slog.Logger
}

// Handle answers with the state of the index, and of each replica in it, or of the one that the parameter replica
// names.
func (h Caches) Handle(c *gin.Context) {
	replicas, only := gin.H{}, c.Query("replica")
	for _, rep := range &h.Current().Replicas {
		if rep != nil && (only == "" || only == rep.Name) {
			replicas[rep.Name] = h.replica(rep)
		}
	}
	st := h.Index.Stats()
	out := gin.H{"digest": fmt.Sprintf("%016x", h.Index.Digest()), "entries": st.Entries, "bytes": st.Bytes,
		"evicted": st.Evicted, "refused": st.Refused, "replicas": replicas}
	if h.Knowledge != nil {
		out["sources"] = h.Knowledge.Sources()
	}
	c.JSON(http.StatusOK, out)
}

func (h Caches) replica(rep *ensemble.Replica) gin.H {
	var tokens *ensemble.TokenCheck // null if they are not compared
	if checked, ok := rep.TokensChecked(); ok {
		tokens = &checked
	}
	at := h.Index.Host(rep.Host)
	out := gin.H{
		"tokens": tokens, "slot": rep.Host, "epoch": at.Epoch, "last_seq": at.LastSeq, "stale": at.Stale,
		"gaps": at.Gaps, "resyncs": at.Resyncs, "blocks": at.Blocks,
		"events": rep.Fleet.Spec().HasEvents, "hit_accuracy": rep.Accuracy.Read(),
	}
	if h.Knowledge != nil {
		maps.Copy(out, h.Knowledge.Replica(rep.Name, rep.Host))
	}
	return out
}

// Snapshot answers with all that is known of the caches, for another gateway. What fails on the way shows there: the
// end is missing.
func (h Caches) Snapshot(c *gin.Context) {
	if h.Knowledge == nil {
		h.Refuse(c, apierr.New(apierr.RouteNotFound, "", "this gateway has no snapshot to give"))
		return
	}
	c.Header("Content-Type", "application/octet-stream")
	if err := h.Knowledge.Save(c.Writer); err != nil {
		h.Log.Warn("a snapshot was not taken whole", "error", err)
	}
}
