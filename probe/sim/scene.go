package sim

import (
	"fmt"
	"time"
)

// Scene is something to be shown on purpose: one kind of fault, again and
// again, until the next scene.
type Scene struct {
	Name  string // of Engine.Play
	Title string // a few words
	Look  string // what to look for on the screen

	faults []fault
	every  time.Duration
}

// sceneFirst is when a scene's fault is due for the first time.
const sceneFirst = 2 * time.Second

// Scenes lists the scenes in the order in which they are best shown.
func Scenes() []Scene {
	restart := fault{kind: faultRestart, min: 1500 * time.Millisecond, max: 2500 * time.Millisecond, then: 2 * time.Second}
	overload := fault{kind: faultOverload, min: 4 * time.Second, max: 5 * time.Second}
	return []Scene{
		{Name: "smooth", Title: "smooth", Look: "an even strip, P99 close to P50: nothing to hide"},
		{Name: "prefill", Title: "prefill interference", every: 5 * time.Second, faults: []fault{prefillFault()},
			Look: "a long prompt next door slows all streams in steps"},
		{Name: "preemption", Title: "preemption", every: 6 * time.Second, faults: []fault{preemptFault()},
			Look: "memory runs out: the youngest stream stands still alone"},
		{Name: "gc", Title: "garbage collection", every: 4 * time.Second, faults: []fault{gcFault()},
			Look: "all stops: one long gap in every stream at once"},
		{Name: "buffering", Title: "buffering proxy", every: 3 * time.Second, faults: []fault{burstFault()},
			Look: "nothing, then many tokens in one read: pause, burst"},
		{Name: "overload", Title: "overload", every: 12 * time.Second, faults: []fault{overload},
			Look: "new requests are turned away: × on the lane, counted"},
		{Name: "restart", Title: "restart", every: 15 * time.Second, faults: []fault{restart},
			Look: "DOWN and its age, loading, back: ↓ ↑ A on the lane"},
	}
}

// sceneNamed finds a scene.
func sceneNamed(name string) (Scene, error) {
	for _, s := range Scenes() {
		if s.Name == name {
			return s, nil
		}
	}
	return Scene{}, fmt.Errorf("no scene %q", name)
}

// Play has the faults of a scene happen from now on, in place of those of the
// profile. It fails for a scene that is not there, and for an engine whose
// streams have clocks of their own, where nothing can go wrong.
func (e *Engine) Play(name string) error {
	s, err := sceneNamed(name)
	if err != nil {
		return err
	}
	if e.profile.article {
		return fmt.Errorf("profile %s has no scenes", e.profile.Name)
	}
	e.mu.Lock()
	e.scene = &s
	e.mu.Unlock()
	e.nudge()
	return nil
}

// newScene takes the scene that is to be played, nil if there is no new one.
func (e *Engine) newScene() *Scene {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.scene
	e.scene = nil
	return s
}

// play replaces the plan of faults.
func (t *timeline) play(s *Scene, now int64) {
	t.faults, t.every, t.i = s.faults, s.every, 0
	t.first = sceneFirst
	if t.on {
		t.next = now + int64(sceneFirst)
	}
}
