// Command reverseproxy is httputil.ReverseProxy as one would write it in an afternoon, with a transport that keeps its
// connections.
package main

import (
	"flag"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
)

func main() {
	listen := flag.String("listen", "", "host:port")
	upstream := flag.String("upstream", "", "host:port of the engine")
	flag.Parse()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: *upstream})
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 8192, DisableCompression: true}
	proxy.FlushInterval = -1
	log.Fatal(http.ListenAndServe(*listen, proxy))
}
