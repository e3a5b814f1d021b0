package folder

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"memd"
	"memd/tiers"
)

// fewKeys is up to how many keys of a namespace are asked for one by one. Beyond, all
// of it is read in pages.
const fewKeys = 50

// load reads the rows that the run is about, and of files without one what became of it.
func (j *job) load(ctx context.Context) error {
	j.rows, j.gone = map[ident]memd.Memory{}, map[ident]memd.Gone{}
	wanted := j.wanted()
	whole := func(string) bool { return false } // whether all of a namespace is loaded
	if j.direction.files && j.Only == nil {
		whole = func(namespace string) bool { return j.Namespace == "" || namespace == j.Namespace }
		if err := j.loadAll(ctx, cmp.Or(j.Namespace, "*"), nil); err != nil {
			return err
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(wanted)) {
		if whole(namespace) {
			continue
		}
		if err := j.loadSome(ctx, namespace, wanted[namespace]); err != nil {
			return err
		}
	}
	return j.loadEnded(ctx, wanted)
}

// loadEnded reads what became of the wanted keys that have no row.
func (j *job) loadEnded(ctx context.Context, wanted map[string]map[string]bool) error {
	for namespace, keys := range wanted {
		for key := range keys {
			if _, ok := j.rows[ident{namespace, key}]; !ok {
				if err := j.loadGone(ctx, namespace, keys); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// wanted are the keys of files, by namespace.
func (j *job) wanted() map[string]map[string]bool {
	wanted := map[string]map[string]bool{}
	for _, f := range j.files {
		if f.fault != nil {
			continue
		}
		if wanted[f.note.Namespace] == nil {
			wanted[f.note.Namespace] = map[string]bool{}
		}
		wanted[f.note.Namespace][f.note.MemoryKey] = true
	}
	return wanted
}

func (j *job) loadSome(ctx context.Context, namespace string, keys map[string]bool) error {
	if len(keys) > fewKeys {
		return j.loadAll(ctx, namespace, keys)
	}
	for key := range keys {
		m, ok, err := j.row(ctx, ident{namespace, key})
		if err != nil {
			return err
		}
		if ok {
			j.rows[ident{namespace, key}] = m
		}
	}
	return nil
}

// loadAll reads every row of a namespace, and keeps those of some keys, nil for all.
func (j *job) loadAll(ctx context.Context, namespace string, keys map[string]bool) error {
	req := memd.List{Tier: memd.Long, Namespace: namespace, Access: j.tags(), Limit: memd.MaxListLimit, IncludeRaw: true}
	for {
		page, err := j.store.List(ctx, req)
		if err != nil {
			return err
		}
		for _, m := range page.Memories {
			if keys == nil || keys[m.MemoryKey] {
				j.rows[ident{m.Namespace, m.MemoryKey}] = hashed(m)
			}
		}
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			return nil
		}
	}
}

// row reads the row of a key.
func (j *job) row(ctx context.Context, id ident) (memd.Memory, bool, error) {
	page, err := j.store.List(ctx, memd.List{
		Tier: memd.Long, Namespace: id.namespace, MemoryKey: id.key, Access: j.tags(), Limit: 1, IncludeRaw: true,
	})
	if err != nil || len(page.Memories) == 0 {
		return memd.Memory{}, false, err
	}
	return hashed(page.Memories[0]), true, nil
}

// hashed is a row with its content_hash, which a row that was edited by hand has not
// until the next groom.
func hashed(m memd.Memory) memd.Memory {
	if m.ContentHash == "" {
		m.ContentHash = tiers.ContentHash(&m)
	}
	return m
}

// tags are the access tags under which rows are read: those that were named, and, where
// files go into the store, those that they state. Which row a file is held against is for
// reads to say.
func (j *job) tags() []string {
	tags := slices.Clone(j.Access)
	if !j.direction.rows {
		return tags
	}
	for _, f := range j.files {
		if f.note != nil {
			tags = append(tags, f.note.Access...)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// loadGone reads what became of keys that have no row.
func (j *job) loadGone(ctx context.Context, namespace string, keys map[string]bool) error {
	gone, err := j.store.Ended(ctx, namespace)
	for _, g := range gone {
		if keys[g.MemoryKey] {
			j.gone[ident{namespace, g.MemoryKey}] = g
		}
	}
	return err
}
