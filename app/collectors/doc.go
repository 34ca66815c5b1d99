// Package collectors has the collectors of what lies beside the gateway's own series: routing decisions, pools, cache
// events, tokenizers, calibration records. Most read the rooms' own counts at a scrape; only routing decisions are
// counted here.
package collectors
