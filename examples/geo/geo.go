// Package geo shows what a plugin of your own takes: a scorer that prefers the replica nearest to a place on the globe.
//
//  1. Implement it: Nearest, in this file.
//  2. Register it: Register puts it beside the others.
//  3. Add it to a profile.
//  4. Give it a weight: both in the example's profile, score: [{geo-nearest: {lat: 50.1, lon: 8.7, weight: 2}},
//     {least-load: 1}].
//
// Nothing else changes: no other plugin knows of it, and a mistake in its slots or parameters keeps the program from
// starting.
package geo

import (
	"math"
	"strconv"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// Nearest scores 1 for a replica at its place, down to 0 at the other side of the globe. Replicas say where they are by
// the labels lat and lon, in degrees; one that does not is taken to be on the other side.
type Nearest struct{ lat, lon float64 }

// Register adds the plugin to a registry. Its parameters are lat and lon [0], in degrees.
func Register(r routing.Registry) {
	r["geo-nearest"] = func(p *routing.Params) routing.Plugin {
		return Nearest{p.Float("lat", 0, -90, 90), p.Float("lon", 0, -180, 180)}
	}
}

// Name implements routing.Plugin.
func (Nearest) Name() string { return "geo-nearest" }

// Reads implements routing.Plugin.
func (Nearest) Reads() []routing.AnySlot { return []routing.AnySlot{plugins.Fleet} }

// Score implements routing.Scorer.
func (n Nearest) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := plugins.Fleet.Get(v)
	for i, h := range hosts {
		if lat, lon, ok := place(replicas.Replica(h)); ok {
			out[i] = 1 - angle(n.lat, n.lon, lat, lon)/math.Pi
		}
	}
}

func place(r *fleet.Replica) (lat, lon float64, ok bool) {
	labels := r.Spec().Labels
	lat, latErr := strconv.ParseFloat(labels["lat"], 64)
	lon, lonErr := strconv.ParseFloat(labels["lon"], 64)
	return lat, lon, latErr == nil && lonErr == nil && math.Abs(lat) <= 90 && math.Abs(lon) <= 180
}

// angle is the great circle between two places, in radians: the haversine formula.
func angle(lat1, lon1, lat2, lon2 float64) float64 {
	const degree = math.Pi / 180
	half := func(a, b float64) float64 { s := math.Sin((b - a) * degree / 2); return s * s }
	h := half(lat1, lat2) + math.Cos(lat1*degree)*math.Cos(lat2*degree)*half(lon1, lon2)
	return 2 * math.Asin(math.Sqrt(min(1, h)))
}
