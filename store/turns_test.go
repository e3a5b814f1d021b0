package store

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// queued waits until n wait.
func queued(t *turns, n int) {
	for t.queue() != n {
		runtime.Gosched()
	}
}

// crowd has callers take places one after the other and notes who is served, in order.
type crowd struct {
	turns  *turns
	served chan string
	leave  map[string]chan struct{}
	all    sync.WaitGroup
}

func newCrowd(places int) *crowd {
	return &crowd{turns: newTurns(places), served: make(chan string), leave: map[string]chan struct{}{}}
}

// come has who ask for a place, and returns when it waits, or is served.
func (c *crowd) come(who string, waits int) {
	if c.leave[who] == nil {
		c.leave[who] = make(chan struct{})
	}
	leaving := c.leave[who]
	c.all.Go(func() {
		leave, err := c.turns.take(As(context.Background(), who))
		if err != nil {
			panic(err)
		}
		c.served <- who
		<-leaving
		leave()
	})
	queued(c.turns, waits)
}

// next ends one place of who, and returns who is served then.
func (c *crowd) next(who string) string {
	c.leave[who] <- struct{}{}
	return <-c.served
}

// One caller alone has every place; with others it has its share, and each of them is
// served in turn, whoever came first and with how many.
func TestTurns(t *testing.T) {
	c := newCrowd(4)
	for range 4 {
		c.come("a", 0)
		if who := <-c.served; who != "a" {
			t.Fatalf("%s is served", who)
		}
	}
	for i := range 12 {
		c.come("a", i+1)
	}
	for i := range 3 {
		c.come("b", 13+i)
	}
	c.come("c", 16)
	var order []string
	for range 4 { // the four of a end
		order = append(order, c.next("a"))
	}
	// b and c have none, so theirs are first; then all have one, and it goes round.
	if got := strings.Join(order, ""); got != "bcab" {
		t.Errorf("served %s", got)
	}
	order = nil
	for _, ends := range []string{"b", "c", "b", "a"} {
		order = append(order, c.next(ends))
	}
	if got := strings.Join(order, ""); got != "abaa" { // of b none is left then, and a is alone
		t.Errorf("then %s", got)
	}
	for _, leaving := range c.leave {
		close(leaving)
	}
	go func() { c.all.Wait(); close(c.served) }()
	left := 0
	for range c.served {
		left++
	}
	if left != 8 || c.turns.free != 4 {
		t.Errorf("%d are served at the end, %d places are free", left, c.turns.free)
	}
}

// Who gives up waits no more, and a place that it was given meanwhile is not lost.
func TestTurnsGivenUp(t *testing.T) {
	const places = 2
	turns := newTurns(places)
	var all sync.WaitGroup
	for i := range 200 {
		ctx, cancel := context.WithCancel(As(context.Background(), fmt.Sprint(i%3)))
		all.Go(func() {
			if leave, err := turns.take(ctx); err == nil {
				runtime.Gosched()
				leave()
			}
		})
		all.Go(cancel)
	}
	all.Wait()
	if turns.free != places || len(turns.held)+len(turns.waiting)+len(turns.order) != 0 {
		t.Errorf("left: %+v", turns)
	}
	full, err := turns.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer full()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if held, err := turns.take(ctx); err == nil {
		held()
	}
	if turns.queue() != 0 || !slices.Equal(turns.order, nil) {
		t.Errorf("left: %+v", turns)
	}
}
