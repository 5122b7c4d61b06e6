package probe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"teapot/probe/event"
)

// dogAt starts a watchdog on the clock of a synctest bubble.
func dogAt(ctx context.Context, cancel context.CancelCauseFunc, l event.Limits, asleep func(int64) int64) (*watchdog, func() int64) {
	start := time.Now()
	now := func() int64 { return int64(time.Since(start)) }
	d := &watchdog{limits: l, now: now, asleep: asleep, cancel: cancel}
	d.start()
	return d, now
}

func awake(int64) int64 { return 0 }

func TestWatchdogLimits(t *testing.T) {
	limits := event.Limits{Connect: 5 * time.Second, First: 60 * time.Second, Idle: 30 * time.Second, Total: 100 * time.Second}
	for _, c := range []struct {
		name  string
		act   func(d *watchdog, now func() int64)
		class event.Class
		limit time.Duration
		after time.Duration // since the start
	}{
		{"no connection", func(*watchdog, func() int64) {}, event.ErrConnectTime, 5 * time.Second, 5 * time.Second},
		{"no first token", func(d *watchdog, _ func() int64) {
			time.Sleep(4 * time.Second)
			d.connected()
		}, event.ErrFirst, 60 * time.Second, 64 * time.Second},
		{"no second token", func(d *watchdog, now func() int64) {
			d.connected()
			time.Sleep(10 * time.Second)
			d.token(now())
		}, event.ErrIdle, 30 * time.Second, 40 * time.Second},
		{"tokens for ever", func(d *watchdog, now func() int64) {
			d.connected()
			for range 99 {
				time.Sleep(time.Second)
				d.token(now())
			}
		}, event.ErrTotal, 100 * time.Second, 100 * time.Second},
		{"open after the end", func(d *watchdog, now func() int64) {
			d.connected()
			d.token(now())
			d.ending()
		}, "", 0, tailPatience},
		{"a second connection restarts the wait", func(d *watchdog, _ func() int64) {
			d.connected()
			time.Sleep(10 * time.Second)
			d.connected()
		}, event.ErrFirst, 60 * time.Second, 70 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				d, now := dogAt(ctx, cancel, limits, awake)
				c.act(d, now)
				<-ctx.Done()
				if got := time.Duration(now()); got != c.after {
					t.Errorf("given up after %v, want %v", got, c.after)
				}
				var why limitError
				if !errors.As(context.Cause(ctx), &why) || why.class != c.class || why.limit != c.limit {
					t.Errorf("cause %v (%q, %v), want %q, %v", context.Cause(ctx), why.class, why.limit, c.class, c.limit)
				}
				if class, limit := d.end(); class != c.class || limit != c.limit {
					t.Errorf("says %q, %v", class, limit)
				}
			})
		})
	}
}

func TestWatchdogIdleShorterThanFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		l := event.Limits{Connect: time.Second, First: time.Hour, Idle: time.Second, Total: 2 * time.Hour}
		d, now := dogAt(ctx, cancel, l, awake)
		d.connected()
		time.Sleep(time.Minute)
		d.token(now())
		<-ctx.Done()
		if got := time.Duration(now()); got != 61*time.Second {
			t.Errorf("given up after %v, want 61s", got)
		}
		d.end()
	})
}

func TestWatchdogSparesAProcessThatSlept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		l := event.Limits{Connect: time.Second, First: time.Minute, Idle: time.Second, Total: time.Hour}
		d, now := dogAt(ctx, cancel, l, func(int64) int64 { return int64(40 * time.Second) })
		d.connected()
		time.Sleep(time.Minute + resumeGrace/2)
		if ctx.Err() != nil {
			t.Fatal("given up though the answer may lie in the socket")
		}
		d.token(now())
		time.Sleep(resumeGrace / 4)
		if ctx.Err() != nil {
			t.Fatal("given up though a token came")
		}
		<-ctx.Done() // but not for ever
		if class, _ := d.end(); class != event.ErrIdle {
			t.Errorf("class %q, want %q", class, event.ErrIdle)
		}
	})
}

func TestWatchdogStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		l := event.Limits{Connect: time.Second, First: time.Second, Idle: time.Second, Total: time.Second}
		d, _ := dogAt(ctx, cancel, l, awake)
		d.connected()
		if class, _ := d.end(); class != "" {
			t.Errorf("class %q before any limit", class)
		}
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Errorf("gave up after its end: %v", context.Cause(ctx))
		}
	})
}

// A limit of tokens says whether anything else came.
func TestWatchdogTellsSilenceFromKeepAlives(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes time.Duration // one this often
		last  time.Duration // and for how long
		want  string
	}{
		{"silence", time.Hour, 0, "no further token for 30s, nor anything else"},
		{"pings to the end", 10 * time.Second, time.Minute, "no further token for 30s, though the connection was kept alive"},
		{"pings that ceased", 2 * time.Second, 6 * time.Second, "no further token for 30s, nor anything else"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				l := event.Limits{Connect: time.Second, First: time.Minute, Idle: 30 * time.Second, Total: time.Hour}
				d, now := dogAt(ctx, cancel, l, awake)
				d.connected()
				time.Sleep(time.Second)
				d.token(now())
				d.heard.Store(now())
				tick := time.NewTicker(c.bytes)
				defer tick.Stop()
				stop := time.After(c.last)
				for ctx.Err() == nil {
					select {
					case <-tick.C:
						d.heard.Store(now())
					case <-stop:
						tick.Stop()
					case <-ctx.Done():
					}
				}
				if got := context.Cause(ctx).Error(); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				d.end()
			})
		})
	}
}

// A limit that passes says whether the connection was silent or only kept alive.
func TestWatchdogTellsSilenceFromPings(t *testing.T) {
	for _, c := range []struct {
		name string
		ping time.Duration // between two signs of life; 0: there are none
		tok  bool
		want string
	}{
		{"silent from the beginning", 0, false, "no token within 1m0s, nor anything else"},
		{"pings, and no token", 15 * time.Second, false, "no token within 1m0s, though the connection was kept alive"},
		{"silent after a token", 0, true, "no further token for 30s, nor anything else"},
		{"pings after a token", 10 * time.Second, true, "no further token for 30s, though the connection was kept alive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				l := event.Limits{Connect: time.Second, First: time.Minute, Idle: 30 * time.Second, Total: time.Hour}
				d, now := dogAt(ctx, cancel, l, awake)
				d.connected()
				time.Sleep(time.Second)
				d.heard.Store(now()) // the header
				if c.tok {
					d.token(now())
				}
				for c.ping > 0 && ctx.Err() == nil {
					time.Sleep(c.ping)
					d.heard.Store(now())
				}
				<-ctx.Done()
				if got := context.Cause(ctx).Error(); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				d.end()
			})
		})
	}
}
