// Command gin is a bare gin handler that copies what comes: no routing, no limits, no accounting.
package main

import (
	"errors"
	"flag"
	"io"
	"log"
	"net/http"

	"github.com/gin-gonic/gin"
)

func main() {
	listen := flag.String("listen", "", "host:port")
	upstream := flag.String("upstream", "", "host:port of the engine")
	flag.Parse()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8192, DisableCompression: true}}
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.POST("/v1/chat/completions", func(c *gin.Context) {
		if err := forward(client, "http://"+*upstream+c.Request.URL.Path, c); err != nil {
			c.AbortWithStatus(http.StatusBadGateway)
		}
	})
	log.Fatal(http.ListenAndServe(*listen, e))
}

func forward(client *http.Client, url string, c *gin.Context) error {
	r, err := http.NewRequestWithContext(c.Request.Context(), c.Request.Method, url, c.Request.Body)
	if err != nil {
		return err
	}
	r.ContentLength = c.Request.ContentLength
	r.Header.Set("Content-Type", c.GetHeader("Content-Type"))
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	h := c.Writer.Header()
	for _, name := range []string{"Content-Type", "Content-Length"} {
		if v := resp.Header.Get(name); v != "" {
			h.Set(name, v)
		}
	}
	c.Status(resp.StatusCode)
	return relay(c.Writer, resp.Body)
}

func relay(w gin.ResponseWriter, from io.Reader) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		if _, bad := w.Write(buf[:n]); bad != nil {
			return bad
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		w.Flush()
		if err != nil {
			return err
		}
	}
}
