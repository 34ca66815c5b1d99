package config
import ("testing";"fmt";"strings";"time")
func TestX(t *testing.T) {
	n := 1<<20-10
	for _, u := range []string{"[","{","- ","? ","a: ","#\n","&a ","*a ","'","\"","|\n","- a\n","a: b\n","!x ","\n","- - ","{a: [","[]\n","# c\n- a\n", "a:\n  #\n", "-\n", "x: &a [*a,*a]\n", "- &a x\n- *a\n"} {
		s := strings.Repeat(u, n/len(u))
		b := time.Now()
		_, err := Parse("f", []byte(s), Options{Presets: presets})
		e := fmt.Sprint(err); d := time.Since(b)
		if d > 100*time.Millisecond {fmt.Printf("%q %v %d %.200s\n", u, d, len(e), e)}
	}
	s := "x-a: &a [1,2,3,4,5,6,7,8,9]\n"
	for c := 'b'; c < 'k'; c++ { s += fmt.Sprintf("x-%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c,c,c-1,c-1,c-1,c-1,c-1,c-1,c-1,c-1,c-1) }
	b := time.Now()
	_, err := Parse("f", []byte(s+small+"profiles: {mine: {pick: {x: {y: *j}}}}"), Options{Presets: presets})
	fmt.Println(time.Since(b), err)
}
