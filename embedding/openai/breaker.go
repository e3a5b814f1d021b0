package openai

import (
	"errors"
	"sync"
	"time"
)

var errOpen = errors.New("the server failed several times in a row and is left alone for a while")

const (
	breakerFailures = 3                // calls failed in a row that open the breaker
	breakerRest     = 30 * time.Second // that it stays open, unless the server asks for more
)

// breaker keeps calls from a server that fails, so that a reader does not wait
// for it each time. After its rest one call tries; the others wait for that
// call's outcome by failing meanwhile.
type breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time // open before this
	trying   bool      // the one call of a breaker that was open is under way
}

// enter asks to call at now and returns 0, or how long to wait. Every entered
// call ends with leave, failed or succeeded.
func (b *breaker) enter(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < breakerFailures:
		return 0
	case now.Before(b.until):
		return b.until.Sub(now)
	case b.trying:
		return time.Second
	}
	b.trying = true
	return 0
}

// leave ends a call that tells nothing of the server.
func (b *breaker) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}

// failed ends a call that failed at now, the server asking for a pause.
func (b *breaker) failed(now time.Time, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	b.until = now.Add(max(breakerRest, after))
	b.trying = false
}

// succeeded ends a call that the server answered.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
	b.trying = false
}
