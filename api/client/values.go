package client

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"memd"
	"memd/store"
)

// Values is a Client whose calls return their values alone, as packages take them
// that know nothing of this one. The others it has from the Client.
type Values struct{ *Client }

func value[T any](reply Reply[T], err error) (T, error) { return reply.Value, err }

// List is Client.List.
func (v Values) List(ctx context.Context, req memd.List) (memd.Page, error) {
	return value(v.Client.List(ctx, req))
}

// Gone are all keys of a namespace without a memory in force, and how it ended.
func (v Values) Gone(ctx context.Context, namespace string) (map[string]memd.Fate, error) {
	gone, err := v.Ended(ctx, namespace)
	if err != nil {
		return nil, err
	}
	return memd.GonePage{Gone: gone}.Fates(), nil
}

// Ended is Gone with all that is known of each.
func (v Values) Ended(ctx context.Context, namespace string) ([]memd.Gone, error) {
	var gone []memd.Gone
	for cursor := ""; ; {
		page, err := value(v.Client.Gone(ctx, namespace, cursor))
		if err != nil {
			return nil, err
		}
		gone = append(gone, page.Gone...)
		if cursor = page.NextCursor; cursor == "" {
			return gone, nil
		}
	}
}

// Room is what the row budgets have left.
func (v Values) Room(ctx context.Context) (memd.Room, error) {
	stats, err := value(v.Stats(ctx))
	room := memd.Room{}
	for _, b := range stats.Budgets {
		name, ok := strings.CutSuffix(b.Budget, "_rows")
		limit, bad := strconv.Atoi(b.Limit)
		if t := memd.Tier(name); ok && bad == nil && b.Used != nil && t.Valid() {
			room[t] = limit - int(*b.Used)
		}
	}
	return room, err
}

// Get is Client.Get.
func (v Values) Get(ctx context.Context, id string) (memd.Memory, error) {
	return value(v.Client.Get(ctx, id))
}

// Head is Client.Head.
func (v Values) Head(ctx context.Context, namespace, key string) (memd.Memory, error) {
	return value(v.Client.Head(ctx, namespace, key))
}

// Versions is Client.Versions.
func (v Values) Versions(ctx context.Context, namespace, key string) ([]memd.Memory, error) {
	reply, err := v.Client.Versions(ctx, namespace, key)
	return reply.Value.Versions, err
}

// RememberLongTerm is Client.RememberLongTerm.
func (v Values) RememberLongTerm(ctx context.Context, req memd.RememberLongTerm) (memd.Written, error) {
	return value(v.Client.RememberLongTerm(ctx, req))
}

// Patch is Client.Patch.
func (v Values) Patch(ctx context.Context, id string, p memd.Patch) (memd.Written, error) {
	return value(v.Client.Patch(ctx, id, p))
}

// Verify is Client.Verify.
func (v Values) Verify(ctx context.Context, id string, req memd.Verify) (memd.Written, error) {
	return value(v.Client.Verify(ctx, id, req))
}

// Import is Client.Import.
func (v Values) Import(ctx context.Context, records []json.RawMessage, dry bool) ([]memd.Imported, error) {
	reply, err := v.Client.Import(ctx, records, dry)
	return reply.Value.Records, err
}

// Log returns the newest entries of the log, the newest first.
func (v Values) Log(ctx context.Context, limit int) ([]store.Entry, error) {
	reply, err := v.Client.Log(ctx, store.LogFilter{Limit: limit})
	return reply.Value.Entries, err
}
