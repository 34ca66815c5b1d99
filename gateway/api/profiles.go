package api

import (
	"net/http/pprof"

	"github.com/gin-gonic/gin"
)

// Profiles adds /debug/pprof to e.
func Profiles(e *gin.Engine) {
	e.GET("/debug/pprof/cmdline", gin.WrapF(pprof.Cmdline))
	e.GET("/debug/pprof/profile", gin.WrapF(pprof.Profile))
	e.GET("/debug/pprof/symbol", gin.WrapF(pprof.Symbol))
	e.GET("/debug/pprof/trace", gin.WrapF(pprof.Trace))
	for _, name := range []string{"", "heap", "goroutine", "allocs", "block", "mutex", "threadcreate"} {
		e.GET("/debug/pprof/"+name, gin.WrapF(pprof.Index))
	}
}
