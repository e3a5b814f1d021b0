package embedding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// box is an outbox without a store: rows by their id, which is their text.
type box struct {
	mu       sync.Mutex
	waiting  []string
	leased   map[string]bool
	told     []string // "id outcome"
	unfilled []string // what Fill adds
	queued   chan struct{}
}

func newBox(waiting ...string) *box {
	return &box{waiting: waiting, leased: map[string]bool{}, queued: make(chan struct{}, 1)}
}

func (b *box) Lease(_ context.Context, n int) ([]Waiting, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var rows []Waiting
	for _, id := range b.waiting {
		if !b.leased[id] && len(rows) < n {
			b.leased[id] = true
			rows = append(rows, Waiting{id, id})
		}
	}
	return rows, nil
}

func (b *box) Deliver(ctx context.Context, rows []Settled) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, r := range rows {
		b.told = append(b.told, fmt.Sprint(r.ID, " ", []string{"released", "deferred", "rejected", "wordless", "embedded"}[r.Outcome]))
		switch r.Outcome {
		case Released:
			delete(b.leased, r.ID)
		case Deferred: // its time comes when others had their turn
			delete(b.leased, r.ID)
			b.waiting = append(slices.DeleteFunc(b.waiting, func(id string) bool { return id == r.ID }), r.ID)
		case Embedded, Wordless:
			b.waiting = slices.DeleteFunc(b.waiting, func(id string) bool { return id == r.ID })
		}
	}
	return nil
}

func (b *box) Fill(context.Context) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	more := len(b.unfilled) > 0
	b.waiting, b.unfilled = append(b.waiting, b.unfilled...), nil
	return more, nil
}

func (b *box) Queued() <-chan struct{} { return b.queued }

// take returns what was told since the last take.
func (b *box) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	told := strings.Join(b.told, ", ")
	b.told = nil
	return told
}

// script is an embedder of dimension 2 that does as it is told.
type script func(ctx context.Context, texts []string) ([][]float32, error)

func (script) Model() string { return "script" }
func (script) Dim() int      { return 2 }
func (s script) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return s(ctx, texts)
}

// all embeds everything.
func all(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
}

func work(t *testing.T, b *box, e script, batch int) *Worker {
	return Start(t.Context(), e, b, batch, slog.New(slog.DiscardHandler))
}

func wants(t *testing.T, b *box, want string) {
	t.Helper()
	synctest.Wait()
	if got := b.take(); got != want {
		t.Errorf("told was %q, want %q", got, want)
	}
}

// Rows are embedded as they come; an idle worker hears of new ones at once.
func TestWorkerEmbeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox("a", "b", "c")
		b.unfilled = []string{"d"}
		w := work(t, b, all, 2)
		defer w.Stop()
		wants(t, b, "a embedded, b embedded, c embedded, d embedded")
		b.waiting = []string{"e"}
		b.queued <- struct{}{}
		wants(t, b, "e embedded")
		b.waiting = []string{"f"} // nobody says so
		wants(t, b, "")
		time.Sleep(idlePause)
		wants(t, b, "f embedded")
	})
}

// What each row's attempt came to is told apart: refused, unusable, without a
// vector, done, and not come to.
func TestWorkerSorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox("a", "b", "c", "d", "e")
		calls := 0
		w := work(t, b, func(ctx context.Context, texts []string) ([][]float32, error) {
			if calls++; calls > 1 {
				return nil, &Fault{Err: errors.New("off")}
			}
			return [][]float32{{1, 0}, nil, nil, {0, 0}}, errors.Join(&Refused{map[int]error{1: ErrNotFinite}}, &Fault{Passing: true, Err: errors.New("down")})
		}, 5)
		defer w.Stop()
		wants(t, b, "a embedded, b rejected, c wordless, d rejected, e released")
	})
}

// A fault that may pass is waited for, longer each time or as long as the server
// asks; news of rows does not cut that short, and nothing is lost.
func TestWorkerBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox("a", "b")
		var at []time.Duration
		start := time.Now()
		w := work(t, b, func(ctx context.Context, texts []string) ([][]float32, error) {
			at = append(at, time.Since(start))
			switch len(at) {
			case 1, 2:
				return nil, &Fault{Passing: true, Err: errors.New("down")}
			case 3:
				return nil, &Fault{Passing: true, After: time.Hour, Err: errors.New("later")}
			case 4:
				return nil, &Fault{Err: errors.New("no such model")}
			}
			return all(ctx, texts)
		}, 2)
		defer w.Stop()
		b.queued <- struct{}{}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		want := []time.Duration{0, time.Second, 3 * time.Second, 3*time.Second + time.Hour, 3*time.Second + time.Hour + lastingPause}
		if len(at) < 5 || !slices.Equal(at[:5], want) {
			t.Errorf("asked at %v, want %v", at, want)
		}
	})
}

// A text that makes the server fail keeps no other from its vector, and counts
// as an attempt once others had theirs between; a server that is down parks
// nothing.
func TestWorkerPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox("poison", "a", "b", "c")
		w := work(t, b, func(ctx context.Context, texts []string) ([][]float32, error) {
			if slices.Contains(texts, "poison") {
				return nil, &Fault{Passing: true, Err: errors.New("crashed")}
			}
			return all(ctx, texts)
		}, 4)
		time.Sleep(time.Hour)
		synctest.Wait()
		told := b.take()
		if !strings.HasSuffix(told, "a embedded, b embedded, c embedded, poison rejected") && !strings.HasSuffix(told, "a embedded, poison rejected, b embedded, c embedded") {
			t.Errorf("told was %q", told)
		}
		w.Stop()

		b = newBox("a", "b")
		w = work(t, b, func(context.Context, []string) ([][]float32, error) {
			return nil, &Fault{Passing: true, Err: errors.New("down")}
		}, 1)
		time.Sleep(5 * time.Hour)
		w.Stop()
		if told := b.take(); strings.Contains(told, "rejected") {
			t.Errorf("of a server that is down told was %q", told)
		}
	})
}

// An embedder that breaks its promise is a fault, and no endless loop.
func TestWorkerShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox("a", "b")
		calls := 0
		w := work(t, b, func(context.Context, []string) ([][]float32, error) { calls++; return nil, nil }, 2)
		defer w.Stop()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if calls > 5 {
			t.Errorf("asked %d times in ten seconds", calls)
		}
	})
}

// Stop ends the call under way, keeps its prefix and lets go of the rest.
func TestWorkerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox("a", "b")
		w := work(t, b, func(ctx context.Context, texts []string) ([][]float32, error) {
			<-ctx.Done()
			return [][]float32{{1, 0}}, ctx.Err()
		}, 2)
		synctest.Wait()
		w.Stop()
		wants(t, b, "a embedded, b released")
	})
}
