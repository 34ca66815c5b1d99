// Package pipeline builds how a specialist's requests are routed, of the profiles and the workflow of its
// configuration.
//
//	config.Profile ──Spec──▶ routing.ProfileSpec ──routing.Build──▶ routing.Profile ─┐
//	preset ──────────────────────────┘                                               ├─▶ Pipeline
//	config.Specialist.Workflow ──────────▶ routing.Single or routing.Flow ───────────┘
//
// Building has no effect but the memory that it takes, so a configuration is checked by building it.
package pipeline
