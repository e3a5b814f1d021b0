package store

import (
	"context"
	"slices"
	"sync"
)

type readerKey struct{}

// As returns the context under which a caller of that name reads: callers share the
// readers evenly, whatever each of them asks for. Without it memd itself does.
func As(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, readerKey{}, name)
}

// turns share places evenly among those who want them. A free place goes to the one
// who waits and holds the fewest, of equals to the one whose turn is longest ago; who
// waits alone may hold them all. So many that want one caller's work done at once hold
// up another's for as long as one piece of it takes, not all. Make one with newTurns.
type turns struct {
	mu      sync.Mutex
	free    int
	held    map[string]int             // places by who holds them, without zeros
	waiting map[string][]chan struct{} // those who wait, the first first; closed when served
	order   []string                   // keys of waiting, the next first
}

func newTurns(places int) *turns {
	return &turns{free: places, held: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// take waits for a place, which leave gives back.
func (t *turns) take(ctx context.Context) (leave func(), err error) {
	who, _ := ctx.Value(readerKey{}).(string)
	mine := make(chan struct{})
	t.mu.Lock()
	if len(t.waiting[who]) == 0 {
		t.order = append(t.order, who)
	}
	t.waiting[who] = append(t.waiting[who], mine)
	t.serve()
	t.mu.Unlock()
	select {
	case <-mine:
		return func() { t.leave(who) }, nil
	case <-ctx.Done():
		t.giveUp(who, mine)
		return nil, ctx.Err()
	}
}

// serve gives the free places to those who wait.
func (t *turns) serve() {
	for t.free > 0 && len(t.order) > 0 {
		at := 0
		for i, who := range t.order {
			if t.held[who] < t.held[t.order[at]] {
				at = i
			}
		}
		who := t.order[at]
		first := t.waiting[who][0]
		t.remove(who, 0)
		if i := slices.Index(t.order, who); i >= 0 { // it still waits, and is the last now
			t.order = append(slices.Delete(t.order, i, i+1), who)
		}
		t.free--
		t.held[who]++
		close(first)
	}
}

// remove takes one that waits out of its queue.
func (t *turns) remove(who string, i int) {
	if t.waiting[who] = slices.Delete(t.waiting[who], i, i+1); len(t.waiting[who]) == 0 {
		delete(t.waiting, who)
		t.order = slices.DeleteFunc(t.order, func(one string) bool { return one == who })
	}
}

func (t *turns) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.held[who]--; t.held[who] == 0 {
		delete(t.held, who)
	}
	t.serve()
}

// giveUp waits no more. It may have been served meanwhile.
func (t *turns) giveUp(who string, mine chan struct{}) {
	t.mu.Lock()
	i := slices.Index(t.waiting[who], mine)
	if i >= 0 {
		t.remove(who, i)
	}
	t.mu.Unlock()
	if i < 0 {
		t.leave(who)
	}
}

// queue is how many wait.
func (t *turns) queue() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range t.waiting {
		n += len(of)
	}
	return n
}

// ReadQueue is how many Views wait for a reader.
func (s *Set) ReadQueue() int { return s.turns.queue() }
