package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Errors of New.
var (
	ErrCommand   = errors.New("verify: the command cannot be run")
	ErrIsolation = errors.New(
		"verify: this system does not let us shut a command off from files, network and processes")
)

// Config is what is run, and within which bounds. A zero field takes the default named beside it.
type Config struct {
	Sample    float64       // share of the answers that Wants says yes to
	Command   []string      // "{}" stands for the file; without one the file comes last
	Languages []string      // of fences
	File      string        // answer.cpp
	Timeout   time.Duration // 10 s
	Memory    int64         // bytes of each process; 1 GiB
	Output    int64         // bytes of each file it writes; 1 MiB
	Reads     []string      // what it sees of the host's files besides a toolchain in the usual places; read-only
	Scratch   int64         // bytes of the file system that it writes to; 64 MiB
	Processes int           // that it may run at once; 64
	Workers   int           // 1
	Waiting   int           // 64
}

func (c Config) withDefaults() Config {
	c.File = cmp.Or(filepath.Base(cmp.Or(c.File, "answer.cpp")), "answer.cpp")
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.Memory = cmp.Or(c.Memory, 1<<30)
	c.Output = cmp.Or(c.Output, 1<<20)
	c.Scratch = cmp.Or(c.Scratch, 64<<20)
	c.Processes = cmp.Or(c.Processes, 64)
	c.Workers = max(c.Workers, 1)
	c.Waiting = cmp.Or(c.Waiting, 64)
	return c
}

// Verifier judges answers. Safe for concurrent use.
type Verifier struct {
	cfg     Config
	queue   chan job // cap == Waiting: what waits is text that would else be garbage
	share   atomic.Uint64
	judged  atomic.Uint64
	passed  atomic.Uint64
	dropped atomic.Uint64
	broken  atomic.Uint64
}

type job struct {
	answer  string
	verdict func(pass bool)
}

// New checks that the command is there and can be isolated.
func New(c Config) (*Verifier, error) {
	c = c.withDefaults()
	if len(c.Command) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrCommand)
	}
	path, err := exec.LookPath(c.Command[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCommand, err)
	}
	c.Command = append([]string{path}, c.Command[1:]...)
	v := &Verifier{cfg: c, queue: make(chan job, c.Waiting)}
	return v, v.probe()
}

// probe closes a cage around the command, on nothing: what it says of that is not looked at.
func (v *Verifier) probe() error {
	ctx, cancel := context.WithTimeout(context.Background(), v.cfg.Timeout)
	defer cancel()
	_, err := v.cage().run(ctx, "")
	if errors.Is(err, ErrIsolation) {
		return err
	}
	return nil
}

// Wants says whether the next answer is one of the sample: evenly spread, without chance.
func (v *Verifier) Wants() bool {
	const one = 1 << 32
	step := uint64(v.cfg.Sample * one)
	now := v.share.Add(step)
	return now/one != (now-step)/one
}

// Largest is the length of the longest answer that is judged, in bytes.
func (v *Verifier) Largest() int64 { return v.cfg.Output }

// Offer has an answer judged some time; verdict is called from another goroutine, or never where nothing can be said.
// False where too many wait already.
func (v *Verifier) Offer(answer string, verdict func(pass bool)) bool {
	select {
	case v.queue <- job{answer, verdict}:
		return true
	default:
		v.dropped.Add(1)
		return false
	}
}

// Run judges until ctx ends, and waits for its commands to end.
func (v *Verifier) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range v.cfg.Workers {
		workers.Go(func() { v.work(ctx) })
	}
	workers.Wait()
}

func (v *Verifier) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-v.queue:
			pass, err := v.Judge(ctx, j.answer)
			if err != nil {
				v.broken.Add(1)
				continue
			}
			v.judged.Add(1)
			if pass {
				v.passed.Add(1)
			}
			j.verdict(pass)
		}
	}
}

// ErrNoCode is what Judge returns of an answer in which there is nothing to judge.
var ErrNoCode = errors.New("verify: no code in the answer")

// Judge says whether the code of an answer passes. An error means that the result is unknown: ErrNoCode, ErrCommand or
// ctx's own.
func (v *Verifier) Judge(ctx context.Context, answer string) (pass bool, err error) {
	code := Code(answer, v.cfg.Languages)
	if code == "" {
		return false, ErrNoCode
	}
	inTime, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()
	pass, err = v.cage().run(inTime, code)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return pass, err
}

// cage is what the command sees and may use.
func (v *Verifier) cage() cage {
	c := &v.cfg
	return cage{
		Paths: append(append([]string{}, toolchain...), c.Reads...), File: c.File,
		Command: append([]string{c.Command[0]}, v.arguments()...),
		Path:    os.Getenv("PATH"), Scratch: c.Scratch, Memory: c.Memory, Output: c.Output,
		Seconds:   int64(c.Timeout/time.Second) + 1,
		Processes: c.Processes, Own: os.Getuid() == 0,
	}
}

func (v *Verifier) arguments() []string {
	args, placed := make([]string, 0, len(v.cfg.Command)), false
	for _, a := range v.cfg.Command[1:] {
		placed = placed || strings.Contains(a, "{}")
		args = append(args, strings.ReplaceAll(a, "{}", v.cfg.File))
	}
	if !placed {
		args = append(args, v.cfg.File)
	}
	return args
}

// Stats is what became of answers so far.
type Stats struct {
	Judged, Passed uint64
	Dropped        uint64 // for want of room
	Broken         uint64 // without code, or the command could not be run
}

// Stats returns the present picture.
func (v *Verifier) Stats() Stats {
	return Stats{Judged: v.judged.Load(), Passed: v.passed.Load(), Dropped: v.dropped.Load(), Broken: v.broken.Load()}
}
