package options

// nearest proposes the one of names that raw was probably meant to be; "" when
// none is near.
func nearest(raw string, names []string) string {
	best, dist := "", 3
	for _, n := range names {
		if n == "" {
			continue
		}
		if d := distance(raw, n); d < dist && d < len(n) {
			best, dist = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean '" + best + "'?"
}

// distance is the number of letters to put in, take out, replace or swap with
// a neighbour to get from a to b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var before, above, row []int
	above = make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}
