package probe

import "testing"

func TestStolen(t *testing.T) {
	for _, c := range []struct {
		stat string
		want int64
	}{
		{"cpu  10 20 30 40 50 60 70 123 9 9\ncpu0 1 2 3 4 5 6 7 8 9 9\n", 1_230_000_000},
		{"cpu  10 20 30 40 50 60 70\n", 0}, // before Linux 2.6.11
		{"cpu  1 2 3 4 5 6 7 -8\n", 0}, {"cpu  1 2 3 4 5 6 7 x\n", 0}, {"cpu0 1 2 3 4 5 6 7 8\n", 0}, {"", 0},
	} {
		if got := stolenIn([]byte(c.stat)); got != c.want {
			t.Errorf("%q: %d, want %d", c.stat, got, c.want)
		}
	}
	if a, b := stolen(), stolen(); a < 0 || b < a {
		t.Errorf("%d and then %d were stolen", a, b)
	}
	if v := loadOf(); v < 0 {
		t.Errorf("load %v", v)
	}
}
