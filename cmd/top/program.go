package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"octet/cmd/adminclient"
	"octet/gateway/live"
	"octet/gateway/receipt"
)

// Options are what a program needs.
type Options struct {
	Client *adminclient.Client
	// Receipt writes one as people read it, harmless to a terminal.
	Receipt func(io.Writer, *receipt.Receipt) error
	In      io.Reader
	Out     io.Writer
}

// Run shows the gateway until the user quits or ctx ends.
func Run(ctx context.Context, o *Options) error {
	ctx, cancel := context.WithCancel(ctx)
	p := &program{options: o, ctx: ctx, model: Model{URL: o.Client.URL(), Now: time.Now()}}
	p.tea = tea.NewProgram(p, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithoutSignalHandler(), tea.WithFPS(10))
	_, err := p.tea.Run()
	ended := ctx.Err() != nil // by the caller
	p.watch(false)
	cancel()
	if ended || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the terminal: %w", err)
	}
	return nil
}

// program does what a Model asks for. It implements tea.Model; its methods run on the terminal's one loop.
type program struct {
	options *Options
	ctx     context.Context
	tea     *tea.Program
	model   Model
	polling bool // a poll is under way
	told    chan any
	unwatch func() // ends the stream of decisions and waits for it; nil if there is none
}

// due says that it is time to poll.
type due struct{}

// ticked is the tick of a second.
type ticked time.Time

// Init implements tea.Model.
func (p *program) Init() tea.Cmd { return tea.Batch(p.poll(), tick()) }

func tick() tea.Cmd { return tea.Tick(time.Second, func(t time.Time) tea.Msg { return ticked(t) }) }

// Update implements tea.Model.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return p, p.take(Resized{msg.Width, msg.Height})
	case tea.KeyPressMsg:
		return p, p.take(Pressed{keyName(msg)})
	case tea.PasteMsg:
		cmds := make([]tea.Cmd, 0, len(msg.Content))
		for _, r := range msg.Content[:min(len(msg.Content), mostTyped)] {
			if p.model.line != nil { // text is for what is typed, and no keys
				cmds = append(cmds, p.take(Pressed{string(r)}))
			}
		}
		return p, tea.Batch(cmds...)
	case ticked:
		return p, tea.Batch(p.take(Ticked{time.Time(msg)}), tick())
	case due:
		return p, p.poll()
	case Polled:
		p.polling = false
		return p, p.take(msg)
	case heard:
		if msg.from != p.told { // of a watch that has ended
			return p, nil
		}
		return p, tea.Batch(p.take(msg.message), p.listen())
	case Done, Fetched:
		return p, p.take(msg)
	}
	return p, nil
}

func keyName(k tea.KeyPressMsg) string {
	if k.Text != "" {
		return k.Text
	}
	return k.Keystroke()
}

// View implements tea.Model.
func (p *program) View() tea.View {
	v := tea.NewView(strings.Join(p.model.Frame(), "\n"))
	v.AltScreen = true
	return v
}

// take gives the model a message, and does what it asks for.
func (p *program) take(message any) tea.Cmd {
	next, effects := p.model.Update(message)
	p.model = next
	var all []tea.Cmd
	for _, e := range effects {
		switch e := e.(type) {
		case PollAfter:
			all = append(all, tea.Tick(e.Pause, func(time.Time) tea.Msg { return due{} }))
		case Drain:
			all = append(all, p.drain(e))
		case Fetch:
			all = append(all, p.fetch(e.ID))
		case Watch:
			all = append(all, p.watch(e.On))
		case Quit:
			all = append(all, tea.Quit)
		}
	}
	return tea.Batch(all...)
}

func (p *program) poll() tea.Cmd {
	if p.polling {
		return nil
	}
	p.polling = true
	adapters := p.model.shows == loaded
	return func() tea.Msg {
		r, err := Poll(p.ctx, p.options.Client, adapters)
		if err != nil {
			return Polled{Failure: Why(err), Now: time.Now()}
		}
		return Polled{Reading: r, Now: r.At}
	}
}

// Why is an error of a client's in one line.
func Why(err error) string {
	if f := new(adminclient.Failure); errors.As(err, &f) {
		return f.Message
	}
	return adminclient.Plain(err.Error())
}

func (p *program) drain(d Drain) tea.Cmd {
	return func() tea.Msg {
		r, err := p.options.Client.Drain(p.ctx, d.Replica, d.On)
		switch {
		case err != nil:
			return Done{Why(err)}
		case r.Draining:
			return Done{fmt.Sprintf("%s drains; %d in flight", r.Name, r.InFlight)}
		}
		return Done{r.Name + " is not draining"}
	}
}

func (p *program) fetch(id string) tea.Cmd {
	return func() tea.Msg {
		r, err := p.options.Client.Receipt(p.ctx, id)
		if err != nil {
			return Fetched{ID: id, Failure: Why(err)}
		}
		var text bytes.Buffer
		if err := p.options.Receipt(&text, r); err != nil {
			return Fetched{ID: id, Failure: Why(err)}
		}
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		for i := range lines {
			lines[i] = clean(lines[i])
		}
		return Fetched{ID: id, Lines: lines}
	}
}

// watch begins to be told decisions, or ends that and waits for it.
func (p *program) watch(on bool) tea.Cmd {
	if p.unwatch != nil {
		p.unwatch()
		p.unwatch, p.told = nil, nil
	}
	if !on {
		return nil
	}
	ctx, cancel := context.WithCancel(p.ctx)
	told, ended := make(chan any, 1), make(chan struct{}) // one is on its way while another is shown
	tell := func(message any) {
		select {
		case told <- message:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(ended)
		defer close(told)
		err := p.options.Client.Decisions(ctx, func(e live.Event) { tell(Decided{e}) })
		tell(Unwatched{Why(err)})
	}()
	p.told, p.unwatch = told, func() { cancel(); <-ended }
	return p.listen()
}

// heard is what a watch has told.
type heard struct {
	from    chan any
	message any
}

// listen waits for what is told next, until the watch ends.
func (p *program) listen() tea.Cmd {
	told := p.told
	return func() tea.Msg {
		message, ok := <-told
		if !ok {
			return nil
		}
		return heard{told, message}
	}
}
