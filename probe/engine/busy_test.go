package engine

import (
	"context"
	"testing"
)

func TestBusy(t *testing.T) {
	one := Detection{Engine: LlamaCpp, Slots: 1}
	slots := func(body string) map[string]answer { return map[string]answer{"/slots": {body: body}} }
	off := answer{status: 501, body: `{"error":{"message":"off","type":"not_supported_error","code":501}}`}
	for _, c := range []struct {
		name    string
		d       Detection
		answers map[string]answer
		want    bool
	}{
		{"idle, recorded", one, map[string]answer{"/slots": recorded(t, "A_get_slots_idle")}, false},
		{"next_token is an array", one, slots(`[{"id":0,"is_processing":true,"next_token":[{"n_decoded":2}]}]`), true},
		{"next_token is an object", one, slots(`[{"id":0,"is_processing":true,"next_token":{"n_decoded":2}}]`), true},
		{"idle after use", one, slots(`[{"id":0,"is_processing":false,"next_token":[{"n_decoded":2}]}]`), false},
		{"old state", one, slots(`[{"id":0,"state":1}]`), true},
		{"old state, idle", one, slots(`[{"id":0,"state":0}]`), false},
		{"slots off, metrics busy", one, map[string]answer{"/slots": off, "/metrics": {body: "# TYPE llamacpp:requests_processing gauge\nllamacpp:requests_processing 1\n"}}, true},
		{"slots off, metrics recorded idle", one, map[string]answer{"/slots": off, "/metrics": recorded(t, "A_get_metrics_idle")}, false},
		{"with labels", one, map[string]answer{"/metrics": {body: "llamacpp:requests_processing{model=\"a}b\"} 2 1767225600\n"}}, true},
		{"a longer name", one, map[string]answer{"/metrics": {body: "llamacpp:requests_processing_max 3\nllamacpp:requests_processing\n"}}, false},
		{"both off", one, map[string]answer{"/slots": off, "/metrics": off}, false},
		{"rubbish", one, slots(`{"slots":1}`), false},
		{"several slots are not asked", Detection{Engine: LlamaCpp, Slots: 4}, slots(`[{"is_processing":true}]`), false},
		{"another engine is not asked", Detection{Engine: VLLM, Slots: 1}, slots(`[{"is_processing":true}]`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t, c.answers)
			busy, err := Busy(context.Background(), f.Client(), f.URL, nil, c.d)
			if err != nil || busy != c.want {
				t.Errorf("%v, %v", busy, err)
			}
			if asked := len(f.paths()) > 0; asked != (c.d.Engine == LlamaCpp && c.d.Slots == 1) {
				t.Errorf("asked %v", f.paths())
			}
		})
	}
}

func TestBusyFailsWithoutAnAnswer(t *testing.T) {
	f := serve(t, nil)
	f.Close()
	if _, err := Busy(context.Background(), f.Client(), f.URL, nil, Detection{Engine: LlamaCpp, Slots: 1}); err == nil {
		t.Error("no error from a closed port")
	}
}

func FuzzSlotsAndMetrics(f *testing.F) {
	for _, seed := range []string{`[{"is_processing":true}]`, `[{"state":1e400}]`, "llamacpp:requests_processing 1", "llamacpp:requests_processing{a=\"} 2", "llamacpp:requests_processing NaN", "[[[["} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if busy, known := busySlots(body); busy && !known {
			t.Fatal("busy without knowing")
		}
		_ = processing(body)
	})
}
