package cmd
import ("testing";"testing/synctest";"fmt";"io";"context";"time")
func TestDbg2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, overloadEngines())
		b.serve(overloadWorld)
		time.Sleep(time.Second)
		q := customer{id:"c1.0", model:"debug", text: sureOfDebug, words: 50, tokens: 5}
		resp, err := b.ask(context.Background(), "POST", "http://data/v1/chat/completions", q.body(), "X-Request-Id", "c1.0")
		if err != nil { t.Fatal(err) }
		x, _ := io.ReadAll(resp.Body)
		fmt.Println(string(x), resp.Header)
		fmt.Println(b.read("http://data/v1/receipts/"+resp.Header.Get("X-Receipt-Id")))
		time.Sleep(5*time.Second)
		fmt.Println(b.read("http://admin/admin/state"))
	})
}
