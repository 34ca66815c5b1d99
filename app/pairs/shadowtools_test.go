package pairs

// shadowFeatures are copies of requests that offer tools.
var shadowFeatures = []*feature{
	{
		name: "tools copied",
		shape: func(c *cell, q *question) {
			unsure(c, q)
			q.tools = true
		},
		audit: func(c *cell, a *answer) {
			for _, h := range c.heardOf(a) {
				if h.tools != 1 {
					c.t.Errorf("%s reaches %s with %d tools", a.id, h.engine, h.tools)
				}
			}
		},
		seen: func(a *answer) bool { return a.tools && a.head.Get("X-Shadow") != "" },
	},
}
