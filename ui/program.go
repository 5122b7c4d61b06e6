package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"teapot/probe/event"
)

// How long the way out may take: for Bubble Tea to end, and for the terminal to
// take the last bytes.
const (
	endWait   = 2 * time.Second
	flushWait = 700 * time.Millisecond
)

// Run shows the screen until the operator quits, a signal comes, the terminal
// goes away, ctx ends or something fails, and leaves the terminal as it found
// it. The error is nil but for faults: a panic in the screen, an error from
// Config.Failed, a terminal that cannot be used.
func Run(ctx context.Context, c Config) (Outcome, error) {
	if c.Env == nil {
		c.Env = os.Getenv
	}
	if c.Out == nil || !term.IsTerminal(c.Out.Fd()) {
		return Outcome{}, errors.New("the screen needs a terminal to draw on")
	}
	r := &runner{end: make(chan ending, 8), stop: make(chan struct{})}
	defer close(r.stop)
	gone := sync.OnceFunc(func() { r.ends(ending{outcome: Outcome{Gone: true}}) })
	keys, closeKeys := openKeyboard(c.In, gone)
	defer closeKeys()
	defer saveTerminal(c.Out)()
	if keys != nil {
		defer saveTerminal(keys.File)()
	}

	g := newGate(c.Out, gone)
	r.guard("writing to the terminal", g.pump)
	m := newModel(c, g, r.controls(c.Control))
	m.drained = g.drain
	p := r.program(m, g, keys)
	r.watch(ctx, c.Failed)

	done := make(chan error, 1)
	r.guard("drawing", func() {
		_, err := p.Run()
		done <- err
	})
	o, err := r.wait(m, p, done)
	g.finish(flushWait)
	return o, err
}

// runner is the frame around one Bubble Tea program.
type runner struct {
	end  chan ending
	stop chan struct{} // closed when Run returns
}

// ending is why the screen has to end.
type ending struct {
	outcome Outcome
	err     error
}

// ends asks for the end; only the first request counts.
func (r *runner) ends(e ending) {
	select {
	case r.end <- e:
	default:
	}
}

// guard runs f in a goroutine; a panic in it ends the screen with an error.
func (r *runner) guard(what string, f func()) {
	go func() {
		defer func() {
			if v := recover(); v != nil {
				r.ends(ending{err: fault(what, v)})
			}
		}()
		f()
	}()
}

// fault is the error for a panic, with the place in our code where it came from.
func fault(what string, v any) error {
	if where := culprit(); where != "" {
		what += " (" + where + ")"
	}
	return fmt.Errorf("internal fault while %s: %v", what, strings.ReplaceAll(fmt.Sprint(v), "\n", " "))
}

// culprit is the innermost function of teapot below a panic.
func culprit() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	seen := false
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" {
			seen = true
		} else if seen && !strings.HasPrefix(f.Function, "runtime.") {
			return f.Function[strings.LastIndexByte(f.Function, '/')+1:] + ":" + fmt.Sprint(f.Line)
		}
		if !more {
			return ""
		}
	}
}

// program makes the Bubble Tea program with its defaults mended: no signal
// handler of its own, no answer expected from the terminal, colours decided
// here.
func (r *runner) program(m *model, g *gate, keys *keyboard) *tea.Program {
	profile := map[depth]colorprofile.Profile{
		mono: colorprofile.ASCII, ansi16: colorprofile.ANSI, ansi256: colorprofile.ANSI256, trueColor: colorprofile.TrueColor,
	}[m.depth]
	opts := []tea.ProgramOption{
		tea.WithOutput(g), tea.WithoutSignalHandler(), tea.WithColorProfile(profile), tea.WithFPS(30),
	}
	if keys == nil {
		opts = append(opts, tea.WithInput(nil))
	} else {
		opts = append(opts, tea.WithInput(keys))
	}
	return tea.NewProgram(&safe{m: m, fail: func(err error) { r.ends(ending{err: err}) }}, opts...)
}

// watch listens for signals, the end of ctx and failures elsewhere. A hang-up
// that is ignored, as under nohup, stays ignored.
func (r *runner) watch(ctx context.Context, failed <-chan error) {
	sigs := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		sigs = append(sigs, syscall.SIGHUP)
	}
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, sigs...)
	r.guard("watching signals", func() {
		defer signal.Stop(ch)
		select {
		case s := <-ch:
			r.ends(ending{outcome: Outcome{Signal: s}})
			<-r.stop // keep later ones from killing us halfway
		case <-ctx.Done():
			r.ends(ending{err: context.Cause(ctx)})
		case err := <-failed:
			r.ends(ending{err: err})
		case <-r.stop:
		}
	})
}

// controls hands controls to the probe from a goroutine of its own, in order.
func (r *runner) controls(to func(event.Control)) func(event.Control) {
	ch := make(chan event.Control, 64)
	r.guard("steering the probe", func() {
		for {
			select {
			case c := <-ch:
				if to != nil {
					to(c)
				}
			case <-r.stop:
				return
			}
		}
	})
	return func(c event.Control) {
		select {
		case ch <- c:
		default: // the probe takes none: so be it
		}
	}
}

// wait returns when the program has ended, or when it does not although it was
// told to.
func (r *runner) wait(m *model, p *tea.Program, done <-chan error) (Outcome, error) {
	select {
	case err := <-done:
		if err == nil {
			select {
			case e := <-r.end: // the reason, when there was one
				return e.outcome, e.err
			default:
				return m.outcome, nil
			}
		}
		select {
		case e := <-r.end: // a terminal that went away may be noticed in two places
			return e.outcome, e.err
		case <-time.After(endWait / 10):
			return Outcome{}, fmt.Errorf("screen: %w", err)
		}
	case e := <-r.end:
		go p.Send(quitMsg{e.outcome})
		select {
		case <-done:
		case <-time.After(endWait):
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				p.Kill()
			}()
			select {
			case <-killed:
			case <-time.After(endWait / 4):
			}
		}
		return e.outcome, e.err
	}
}

// safe is the model as Bubble Tea sees it: a panic in it ends the screen in
// order.
type safe struct {
	m      *model
	fail   func(error)
	broken bool
}

func (s *safe) rescue(what string) {
	if v := recover(); v != nil {
		s.broken = true
		s.fail(fault(what, v))
	}
}

// Init starts the frame tick.
func (s *safe) Init() (cmd tea.Cmd) {
	defer s.rescue("starting the screen")
	return s.m.Init()
}

// Update handles a message.
func (s *safe) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = s // also after a panic
	if s.broken {
		if _, ok := msg.(quitMsg); ok {
			return s, tea.Quit
		}
		return s, nil
	}
	defer s.rescue("handling an input")
	_, cmd = s.m.Update(msg)
	return s, cmd
}

// View draws the screen.
func (s *safe) View() (v tea.View) {
	v = s.m.frameView
	if s.broken {
		return v
	}
	defer s.rescue("drawing the screen")
	return s.m.View()
}
