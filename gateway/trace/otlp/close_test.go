package otlp

import (
	"sync"
	"testing"

	"octet/internal/await"
)

// Requests that end while their Exporter is closed, as a reload or a drain does: of each trace it is known what became
// of it when Close and Take have returned, and none is left in the queue.
func TestNoTraceIsLostToTheCountsWhileAnExporterCloses(t *testing.T) {
	const requests, each = 8, 100
	c := soon()
	c.Queue = 2 * requests * each
	e, counts, _, _ := exporting(t, c, takes)
	e.Start()
	var asking sync.WaitGroup
	for range requests {
		asking.Go(func() {
			for range each {
				e.Take(one())
			}
		})
	}
	asking.Go(func() {
		await.True(t, "traces come", func() bool { return len(e.queue) > 0 || all(counts) > 0 })
		e.Close()
	})
	asking.Wait()
	if n := all(counts); n != requests*each || len(e.queue) > 0 {
		t.Errorf("%d of %d traces are counted, %d are queued", n, requests*each, len(e.queue))
	}
}

// A request that has found the Exporter open, and has not queued its trace yet, is waited for.
func TestClosingWaitsForATraceOnItsWayIntoTheQueue(t *testing.T) {
	e, counts, _, _ := exporting(t, soon(), takes)
	e.Start()
	e.takeMu.RLock() // as in enqueue, behind its first look
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		e.Close()
	}()
	await.True(t, "it is being closed", func() bool {
		open := e.takeMu.TryRLock()
		if open {
			e.takeMu.RUnlock()
		}
		return !open
	})
	e.queue <- one()
	e.takeMu.RUnlock()
	<-closed
	if got := counts.Read(); got.Exported != 1 || len(e.queue) > 0 {
		t.Errorf("%+v, %d are queued", got, len(e.queue))
	}
}

// An Exporter that was never started has sent nothing.
func TestTracesOfAnExporterThatWasNotStartedAreDropped(t *testing.T) {
	e, counts, _, _ := exporting(t, soon(), takes)
	e.Take(one())
	e.Close()
	e.Take(one())
	if got := counts.Read(); got.Dropped != 2 {
		t.Errorf("%+v", got)
	}
}

// A trace that finds the queue full, though there was room a moment ago, is counted as dropped, and that is told.
func TestATraceThatFindsTheQueueFullIsDroppedAndTold(t *testing.T) {
	c := soon()
	c.Queue = 1
	e, counts, log, _ := exporting(t, c, takes)
	e.Take(one())
	e.Take(one())
	if got := counts.Read(); got.Dropped != 1 || len(e.queue) != 1 {
		t.Fatalf("%+v, %d are queued", got, len(e.queue))
	}
	e.tell(nil)
	if n := log.count("level=WARN"); n != 1 {
		t.Errorf("%d warnings", n)
	}
}
