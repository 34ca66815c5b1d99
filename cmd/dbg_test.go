package cmd

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestDbg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := storm(t)
		for _, n := range []string{"debug-0", "debug-1"} {
			s := c.b.engines[n].Stats()
			fmt.Printf("%s: %+v gen %v\n", n, s, c.b.metric("http://"+n, "vllm:generation_tokens_total"))
		}
		for _, rep := range c.b.house.server.Runtime().Replicas {
			if rep != nil {
				fmt.Printf("%s: %+v\n", rep.Name, rep.Gate.Stats())
			}
		}
		p, g := 0, 0
		for _, a := range c.answers {
			if a.specialist == "debug" {
				p += a.prompt
				g += a.said
			}
		}
		fmt.Println("deserved prompt", p, "gen", g, "answers", len(c.answers))
		hist := map[int]int{}
		for _, a := range c.answers {
			if a.specialist == "debug" {
				hist[int(a.asked/time.Second/5)*5*1000+int((a.ended-a.asked)/time.Second)]++
			}
		}
		for s := 0; s < 110; s += 5 {
			fmt.Printf("%d: ", s)
			for l := range 30 {
				if n := hist[s*1000+l]; n > 0 {
					fmt.Printf("%ds:%d ", l, n)
				}
			}
			fmt.Println()
		}
	})
}
