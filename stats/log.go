package stats

import "slices"

// log is a bounded list that is written at its end and shown without copying.
//
// A view shares the backing array: items that a view has seen are never
// written again in place, and appending writes only behind every view. So a
// snapshot costs one slice header, whatever the length.
type log[T any] struct {
	items []T
	keep  int // at most so many items; the oldest go first
	seen  int // items[:seen] may be in somebody's view
}

// add appends one item.
func (l *log[T]) add(v T) {
	l.items = append(l.items, v)
	if over := len(l.items) - l.keep; over > 0 {
		l.drop(over)
	}
}

// insert puts an item before item i.
func (l *log[T]) insert(i int, v T) {
	before := len(l.items)
	l.add(v)
	i = max(i-(before+1-len(l.items)), 0) // the oldest may have gone
	for j := len(l.items) - 1; j > i; j-- {
		*l.edit(j) = l.items[j-1]
	}
	*l.edit(i) = v
}

// drop removes the n oldest items. The memory goes when append moves the rest.
func (l *log[T]) drop(n int) {
	n = min(n, len(l.items))
	l.items = l.items[n:]
	l.seen = max(0, l.seen-n)
}

// edit returns item i to be written, moving the list away from any view first.
func (l *log[T]) edit(i int) *T {
	if i < l.seen {
		l.items = slices.Clone(l.items)
		l.seen = 0
	}
	return &l.items[i]
}

// view returns the list as it is now, immutable.
func (l *log[T]) view() []T {
	l.seen = len(l.items)
	return l.items[:len(l.items):len(l.items)]
}
