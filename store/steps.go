package store

import "context"

// stepKey is where a context carries what a crash test listens with.
type stepKey struct{}

// reached tells a crash test that a half-step is about to be taken, or was;
// elsewhere it does nothing. The names are those of docs/format.md.
func reached(ctx context.Context, step string) {
	if listen, ok := ctx.Value(stepKey{}).(func(string)); ok {
		listen(step)
	}
}
