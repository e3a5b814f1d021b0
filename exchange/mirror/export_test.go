package mirror

import (
	"context"
	"time"

	"memd/exchange/watch"
	"memd/store"
)

// Loop runs the loop alone, between what a test plays.
func Loop(ctx context.Context, namespace string, changes <-chan watch.Changes, log func(context.Context, int) ([]store.Entry, error),
	compare func(context.Context, []string) (bool, error), lost func(error), found func(),
) error {
	l := loop{pace: pace(2 * time.Second), namespace: namespace, changes: changes, log: log, compare: compare, lost: lost, found: found}
	return l.run(ctx)
}

// Final is an error that ends the loop.
func Final(err error) error { return finalError{err} }
