package importers

import (
	"context"

	"memd"
	"memd/exchange/jsonl"
)

// Store is where an import writes. Its errors are *memd.Errors.
type Store interface {
	jsonl.Store // for short rows
	// Head is the current version of a key, not_found where none lives.
	Head(ctx context.Context, namespace, key string) (memd.Memory, error)
	// Get is a memory with its raw_content.
	Get(ctx context.Context, id string) (memd.Memory, error)
	// Versions are all versions of a key.
	Versions(ctx context.Context, namespace, key string) ([]memd.Memory, error)
	// Gone are the keys of a namespace without a memory in force, and how it ended.
	Gone(ctx context.Context, namespace string) (map[string]memd.Fate, error)
	RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error)
	Room(ctx context.Context) (memd.Room, error)
}
