package sim

import (
	"testing"
	"time"
)

// A scene that comes on has its own fault happen from then on, and no other;
// one that is not there changes nothing.
func TestScenes(t *testing.T) {
	kinds := map[string]faultKind{
		"smooth": "", "prefill": faultPrefill, "preemption": faultPreempt, "gc": faultGC, "buffering": faultBurst,
		"overload": faultOverload, "restart": faultRestart,
	}
	list := Scenes()
	if len(list) != len(kinds) {
		t.Errorf("%d scenes, want %d", len(list), len(kinds))
	}
	for _, s := range list {
		if s.Title == "" || s.Look == "" {
			t.Errorf("scene %s does not say what it is", s.Name)
		}
		t.Run(s.Name, func(t *testing.T) {
			bubble(t, Options{Profile: "tour", Seed: 3}, func(w *world) {
				if err := w.e.Play(s.Name); err != nil {
					w.Fatal(err)
				}
				w.crowdOf(3, 12*time.Second, usual+`,"max_tokens":200`)
				_, faults, _ := w.facts()
				found := 0
				for _, f := range faults {
					if f.Fault != string(kinds[s.Name]) {
						w.Errorf("a fault %q in the log", f.Fault)
					}
					found++
				}
				if (found > 0) != (kinds[s.Name] != "") {
					w.Errorf("%d faults in the log", found)
				}
			})
		})
	}
}

// Names that come through the channel of the options are played, and those of
// no scene skipped.
func TestScenesAreFollowed(t *testing.T) {
	names := make(chan string)
	e, err := New(Options{Profile: "tour", Scenes: names})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		e.follow(t.Context())
		close(done)
	}()
	names <- "none such"
	names <- "gc"
	close(names)
	<-done
	if s := e.newScene(); s == nil || s.Name != "gc" {
		t.Errorf("%+v is played", s)
	}
	if e.newScene() != nil {
		t.Error("it is played twice")
	}
}

func TestWhereThereAreNoScenes(t *testing.T) {
	e, err := New(Options{Profile: "article"})
	if err != nil {
		t.Fatal(err)
	}
	if e.Play("gc") == nil {
		t.Error("streams with clocks of their own play a scene")
	}
	if e, _ = New(Options{Profile: "smooth"}); e.Play("none such") == nil {
		t.Error("a scene that is not there plays")
	}
}
