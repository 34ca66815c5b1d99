package cmd

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"octet/cmd/adminclient"
	"octet/config"
	"octet/internal/apptest"
	"octet/internal/await"
	"octet/routing/plugins"
)

// topOfTest has the test binary be octet, so that what runs in a terminal is a process of its own.
const topOfTest = "OCTET_TEST_TOP"

func TestMain(m *testing.M) {
	if line := os.Getenv(topOfTest); line != "" {
		os.Exit(run(strings.Fields(line)))
	}
	os.Exit(m.Run())
}

// screen is octet top in a terminal.
type screen struct {
	t     *testing.T
	tty   *os.File
	vt    *vt.SafeEmulator
	read  chan struct{} // closed when all that the process wrote is on the screen
	ended chan error
}

func openTop(t *testing.T, admin string, env ...string) *screen {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), append([]string{topOfTest + "=top --admin " + admin, "TERM=xterm-256color",
		adminclient.TokenVar + "=" + token}, env...)...)
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, tty: tty, vt: vt.NewSafeEmulator(80, 24), read: make(chan struct{}),
		ended: make(chan error, 1)}
	go func() { // until the process has ended
		defer close(s.read)
		buf := make([]byte, 1<<16)
		for {
			n, err := tty.Read(buf)
			if _, bad := s.vt.Write(buf[:n]); err != nil || bad != nil {
				return
			}
		}
	}()
	answered := make(chan struct{})
	go func() { // what the terminal is asked
		defer close(answered)
		buf := make([]byte, 256)
		for {
			n, err := s.vt.Emulator.Read(buf)
			if err != nil {
				return
			}
			_, _ = tty.Write(buf[:n]) // the process may have ended
		}
	}()
	go func() { s.ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-s.read
		if c, ok := s.vt.InputPipe().(io.Closer); ok { // Close of an Emulator does not wait for its Read
			_ = c.Close()
		}
		<-answered
		tty.Close()
	})
	return s
}

// text is what the screen shows, taken under its lock: a cell of CellAt changes while it is read.
func (s *screen) text() string { return ansi.Strip(s.vt.Render()) }

func (s *screen) shows(text string) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Log(s.text())
		}
	}()
	await.True(s.t, "the screen shows "+text, func() bool { return strings.Contains(s.text(), text) })
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// Issue 22, point 2: through a terminal as a user sees it, from the first frame to the quit.
func TestTopInATerminal(t *testing.T) {
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token)
	s := openTop(t, w.Admin)
	s.shows("[1 specialists]")
	s.shows("systems")
	s.press("2")
	s.shows("debug-1")
	s.press("\x1b[B") // down: debug-1
	s.shows("-- 2 of 3")
	s.press("d")
	s.shows("drain debug-1? it gets no new requests.  y / n")
	s.press("y")
	s.shows("debug-1 drains; 0 in flight")
	await.True(t, "it drains", func() bool { return w.Replica("debug-1").Fleet.Draining() })
	s.shows("draining")
	s.press("4")
	s.shows("no decision has ended")
	var id string
	await.True(t, "a decision is told", func() bool {
		resp, _ := w.Post("/v1/completions", `{"model":"debug","prompt":"p","max_tokens":2}`)
		id = resp.Header.Get("X-Receipt-Id")
		return strings.Contains(s.text(), "debug-0")
	})
	s.press("\r")
	s.shows("specialist  debug")
	s.press("q")
	s.press("o")
	s.shows("receipt: _")
	s.press(id + "\r")
	s.shows("receipt " + id)
	s.press("q")
	s.press("onone\r")
	s.shows("no receipt of that id is kept")
	s.press("5")
	s.shows("[5 adapters]")
	s.shows("gdb-v2")
	s.shows("all of debug  0 loads, 0 failed; 0 evicted for room")
	s.press("4")
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 8, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	s.vt.Resize(40, 8)
	s.shows("octet top needs 60 x 12 cells")
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 30, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	s.vt.Resize(120, 30)
	s.shows("[4 decisions]")
	s.press("?")
	s.shows("these keys")
	s.press("qq")
	if err := <-s.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	<-s.read
	if s.vt.IsAltScreen() {
		t.Error("the terminal is left in the alternate screen")
	}
}

// Issue 22, bad input: the gateway goes, and another begins at its address.
func TestTopOutlivesItsGateway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin := l.Addr().String()
	l.Close()
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token, "listen.admin="+admin)
	s := openTop(t, admin, "NO_COLOR=1")
	s.shows("systems")
	w.Stop()
	s.shows("AWAY for")
	s.shows("shown is what was")
	s.shows("systems")
	w.Ended <- <-w.Ended
	urls := []string{w.Engines["debug-0"].URL, w.Engines["debug-1"].URL, w.Engines["systems-0"].URL}
	yaml := apptest.Small
	for _, url := range urls {
		yaml = strings.Replace(yaml, "%s", url, 1)
	}
	cfg, err := config.Parse("world.yaml", []byte(yaml), config.Options{Presets: plugins.Presets(),
		Sets: append(w.Sets(), "admin.token="+token, "listen.admin="+admin)})
	if err != nil {
		t.Fatal(err)
	}
	w.Another(cfg)
	s.shows("the gateway has restarted; connected again")
	s.shows("[1 specialists]")
	s.press("\x03")
	if err := <-s.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// A wrong token, and an admin that is down, are told on the screen.
func TestTopTellsWhyItShowsNothing(t *testing.T) {
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token+", another")
	s := openTop(t, w.Admin)
	s.shows("does not know the token")
	s.press("q")
	if err := <-s.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestTopOnceIsOnePlainFrame(t *testing.T) {
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token)
	t.Setenv(adminclient.TokenVar, token)
	out, err := command(t, "top", "--once", "--admin", w.Admin)
	if err != nil || strings.Contains(out, "\x1b") || !strings.Contains(out, "\nSPECIALIST ") ||
		!strings.Contains(out, "\ndebug-1 ") || !strings.Contains(out, "no request is open") {
		t.Errorf("%v\n%s", err, out)
	}
	var usage usageError
	if _, err := command(t, "top", "--admin", w.Admin); !errors.As(err, &usage) {
		t.Errorf("without a terminal: %v", err)
	}
	t.Setenv(adminclient.TokenVar, "wrong")
	if out, err := command(t, "top", "--once", "--admin", w.Admin); !errors.Is(err, adminclient.ErrToken) ||
		out != "" ||
		report(err, false) != exitFailed {
		t.Errorf("a wrong token: %v\n%s", err, out)
	}
	if out, err := command(t, "top", "--once", "--admin", "127.0.0.1:1"); !errors.Is(err, adminclient.ErrDown) ||
		out != "" || strings.Contains(err.Error(), "\n") {
		t.Errorf("down: %v\n%s", err, out)
	}
}
