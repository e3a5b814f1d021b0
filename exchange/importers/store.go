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
	// Gone lists keys whose memories are no longer in force, a page at a time.
	Gone(ctx context.Context, namespace, cursor string) (memd.GonePage, error)
	RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error)
	Room(ctx context.Context) (jsonl.Room, error)
}
