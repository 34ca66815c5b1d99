package plugins

import (
	"octet/routing"
	"octet/routing/fleet"
)

// LowestFirst turns costs into scores, as dynamo-cost does.
func LowestFirst(costs []float64) { lowestFirst(costs) }

// DynamoWorker is one replica as dynamo-cost sees it, in blocks.
type DynamoWorker struct{ Prompt, Held, Backlog, Excess, Decode, Requests float64 }

// DynamoCost makes dynamo-cost, and returns its cost beside it.
func DynamoCost(p *routing.Params) (routing.Plugin, func(DynamoWorker) float64) {
	plugin := newDynamoCost(Deps{})(p).(dynamoCost)
	return plugin, func(w DynamoWorker) float64 {
		return plugin.cost(worker{prompt: w.Prompt, held: w.Held, backlog: w.Backlog, excess: w.Excess,
			decode: w.Decode, requests: w.Requests})
	}
}

// DeviceLoads makes device-aware, and returns the load of each class by it.
func DeviceLoads(p *routing.Params) (routing.Plugin, func(replicas []*fleet.Replica) map[string]float64) {
	plugin := newDeviceAware(Deps{})(p).(deviceAware)
	return plugin, func(replicas []*fleet.Replica) map[string]float64 {
		var classes []class
		for _, r := range replicas {
			classes = plugin.count(classes, r)
		}
		plugin.normalize(classes)
		loads := map[string]float64{}
		for _, c := range classes {
			loads[c.name] = c.load
		}
		return loads
	}
}
