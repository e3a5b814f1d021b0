package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Bounds of the cursors that a session keeps.
const (
	maxCursors  = 128
	shortCursor = 64 // bytes of a cursor that is handed out as it is
)

// cursors keeps the cursors of a session under short names: a cursor of recall
// holds what its order depends on, which can be more than a model's answer has
// room for. It is safe for concurrent use.
type cursors struct {
	mu    sync.Mutex
	whole map[string]string // by short name
	names []string          // the oldest first
}

// short returns the name under which a cursor is handed out; equal cursors have
// equal names.
func (c *cursors) short(cursor string) string {
	if len(cursor) <= shortCursor {
		return cursor
	}
	sum := sha256.Sum256([]byte(cursor))
	name := "next-" + hex.EncodeToString(sum[:8])
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.whole[name]; known {
		return name
	}
	if c.whole == nil {
		c.whole = map[string]string{}
	}
	if len(c.names) == maxCursors {
		delete(c.whole, c.names[0])
		c.names = c.names[1:]
	}
	c.whole[name], c.names = cursor, append(c.names, name)
	return name
}

// long returns the cursor of a name, and anything else as it is.
func (c *cursors) long(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cursor, ok := c.whole[name]; ok {
		return cursor
	}
	return name
}
