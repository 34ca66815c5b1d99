// Package geo shows what a plugin of your own takes: a scorer that prefers the replica nearest to the client, or to a
// place on the globe.
//
//  1. Implement it: Nearest, in this file.
//  2. Register it: Register, which a main of your own calls before the gateway's (octet-geo, beside this file).
//  3. Add it to a profile of the configuration.
//  4. Give it a weight: both as in octet-geo/geo.yaml, score: [{geo-nearest: {header: X-Client-Location, weight: 2}},
//     {least-load: 1}].
//
// Nothing else changes: no other plugin knows of it, and a mistake in its slots or parameters keeps the program from
// starting, as octet-geo check says beforehand.
package geo

import (
	"math"
	"strconv"
	"strings"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// Nearest scores 1 for a replica at its place, down to 0 at the other side of the globe. Replicas say where they are by
// the labels lat and lon, in degrees; one that does not is taken to be on the other side.
type Nearest struct {
	lat, lon float64 // where the client does not say where it is
	header   string  // in which it says so; "" means that it does not
}

// Register adds the plugin to those that profiles can name.
func Register() { plugins.Register("geo-nearest", New) }

// New makes the plugin's factory. Its parameters are lat and lon [0], in degrees, and header [""], the request header
// in which the client's place comes as "lat,lon", such as 48.9,2.4: limits.profile_headers must list it.
func New(plugins.Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return Nearest{p.Float("lat", 0, -90, 90), p.Float("lon", 0, -180, 180),
			p.Header("header")}
	}
}

// Name implements routing.Plugin.
func (Nearest) Name() string { return "geo-nearest" }

// Reads implements routing.Plugin.
func (Nearest) Reads() []routing.AnySlot { return []routing.AnySlot{plugins.Fleet} }

// Excludes implements routing.Excluder: distance counts once.
func (Nearest) Excludes() []string { return []string{"node-locality"} }

// Score implements routing.Scorer.
func (n Nearest) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := plugins.Fleet.Get(v)
	fromLat, fromLon := n.from(v.Facts().Headers)
	for i, h := range hosts {
		if lat, lon, ok := place(replicas.Replica(h)); ok {
			out[i] = 1 - angle(fromLat, fromLon, lat, lon)/math.Pi
		}
	}
}

// from returns where the client is: what its header says, else what the profile says.
func (n Nearest) from(headers routing.Headers) (lat, lon float64) {
	said, rest, _ := strings.Cut(headers.Value(n.header), ",")
	if lat, lon, ok := degrees(said, rest); ok {
		return lat, lon
	}
	return n.lat, n.lon
}

func place(r *fleet.Replica) (lat, lon float64, ok bool) {
	labels := r.Spec().Labels
	return degrees(labels["lat"], labels["lon"])
}

func degrees(north, east string) (lat, lon float64, ok bool) {
	lat, latErr := strconv.ParseFloat(strings.TrimSpace(north), 64)
	lon, lonErr := strconv.ParseFloat(strings.TrimSpace(east), 64)
	return lat, lon, latErr == nil && lonErr == nil && math.Abs(lat) <= 90 && math.Abs(lon) <= 180
}

// angle is the great circle between two places, in radians: the haversine formula.
func angle(lat1, lon1, lat2, lon2 float64) float64 {
	const degree = math.Pi / 180
	half := func(a, b float64) float64 { s := math.Sin((b - a) * degree / 2); return s * s }
	h := half(lat1, lat2) + math.Cos(lat1*degree)*math.Cos(lat2*degree)*half(lon1, lon2)
	return 2 * math.Asin(math.Sqrt(min(1, h)))
}
