package tiers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"memd"
	"memd/store"
)

// Get returns the whole row with the given id, superseded versions included,
// and counts the access.
func (s *Service) Get(ctx context.Context, c memd.Caller, id string) (memd.Memory, error) {
	found, err := s.byID(ctx, c, []string{id})
	if err != nil {
		return memd.Memory{}, err
	}
	if len(found) == 0 {
		return memd.Memory{}, notFound()
	}
	return found[0], nil
}

// Batch returns the whole rows of the given ids, at most memd.MaxBatch, in
// their order; ids that do not exist for the caller are left out.
func (s *Service) Batch(ctx context.Context, c memd.Caller, ids []string) ([]memd.Memory, error) {
	if len(ids) == 0 || len(ids) > memd.MaxBatch {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "ids", "ids must hold 1 to %d entries", memd.MaxBatch)
	}
	return s.byID(ctx, c, ids)
}

func (s *Service) byID(ctx context.Context, c memd.Caller, ids []string) ([]memd.Memory, error) {
	if err := need(c, memd.RoleRead); err != nil {
		return nil, err
	}
	now := s.store.Now()
	found := make([]memd.Memory, 0, len(ids))
	err := s.store.View(ctx, func(v *store.View) error {
		for _, id := range ids {
			m, ok, err := v.Get(id)
			if err != nil {
				return err
			}
			if !ok || !maySee(c, &m, now) {
				continue
			}
			if m.Tier == memd.Transient {
				owner, err := v.SessionOwner(m.SessionID)
				if err != nil {
					return err
				}
				if !Owns(c, owner) {
					continue
				}
			}
			Present(&m, s.budgets, now)
			found = append(found, m)
		}
		return nil
	})
	for _, m := range found {
		s.store.Touch("caller:"+c.Name, now, m.ID)
	}
	return found, err
}

// Head returns the current row of a key.
func (s *Service) Head(ctx context.Context, c memd.Caller, namespace, key string) (memd.Memory, error) {
	if err := need(c, memd.RoleRead); err != nil {
		return memd.Memory{}, err
	}
	ns, err := Namespace(c, namespace)
	if err != nil {
		return memd.Memory{}, err
	}
	now := s.store.Now()
	var m memd.Memory
	err = s.store.View(ctx, func(v *store.View) error {
		head, ok, err := v.Head(ns, key)
		if err != nil {
			return err
		}
		if ok {
			if m, ok, err = v.Row(head); err != nil {
				return err
			}
		}
		if !ok || !maySee(c, &m, now) {
			return notFound()
		}
		Present(&m, s.budgets, now)
		m.RawContent = ""
		return nil
	})
	if err == nil {
		s.store.Touch("caller:"+c.Name, now, m.ID)
	}
	return m, err
}

// Versions returns every version of a key, newest first, with whatever tier
// it now lives in.
func (s *Service) Versions(ctx context.Context, c memd.Caller, namespace, key string) ([]memd.Memory, error) {
	if err := need(c, memd.RoleRead); err != nil {
		return nil, err
	}
	ns, err := Namespace(c, namespace)
	if err != nil {
		return nil, err
	}
	now := s.store.Now()
	shown := []memd.Memory{}
	err = s.store.View(ctx, func(v *store.View) error {
		versions, err := v.Versions(ns, key)
		if err != nil {
			return err
		}
		for _, m := range versions {
			if maySee(c, &m, now) {
				Present(&m, s.budgets, now)
				m.RawContent = ""
				shown = append(shown, m)
			}
		}
		return nil
	})
	if err == nil && len(shown) == 0 {
		err = notFound()
	}
	return shown, err
}

// listCursor is where a page ended, and a mark of what was listed.
type listCursor struct {
	Before string `json:"b"`
	Query  uint32 `json:"q"`
}

// List returns rows newest first, of the long tier the heads. Transient rows
// are listed only when asked for, and only those of the caller's sessions.
func (s *Service) List(ctx context.Context, c memd.Caller, req memd.List) (memd.Page, error) {
	if err := need(c, memd.RoleRead); err != nil {
		return memd.Page{}, err
	}
	sel, err := s.selection(c, req)
	if err != nil {
		return memd.Page{}, err
	}
	mark := fnv.New32a()
	fmt.Fprintf(mark, "%v|%q|%q|%q|%q|%q|%q|%q|%q|", sel.Scope.All, sel.Scope.Namespaces, sel.Scope.Access, sel.Tiers, sel.Kind, sel.Tag, sel.MemoryKey, sel.Q, sel.Session)
	if sel.Stale != nil {
		fmt.Fprint(mark, *sel.Stale)
	}
	if req.Cursor != "" {
		var cur listCursor
		if err := openCursor(req.Cursor, &cur); err != nil || cur.Query != mark.Sum32() || !uuidForm.MatchString(cur.Before) {
			return memd.Page{}, memd.FieldErrorf(memd.CodeInvalidRequest, "cursor", "cursor does not belong to this list")
		}
		sel.Before = cur.Before
	}
	limit := sel.Limit
	sel.Limit++ // one more tells whether there is a next page
	page := memd.Page{Memories: []memd.Memory{}}
	err = s.store.View(ctx, func(v *store.View) error {
		rows, err := v.List(sel)
		for i := range rows {
			Present(&rows[i], s.budgets, sel.Scope.Now)
		}
		page.Memories = append(page.Memories, rows...)
		return err
	})
	if err == nil && len(page.Memories) > limit {
		page.Memories = page.Memories[:limit]
		page.NextCursor = sealCursor(listCursor{Before: page.Memories[limit-1].ID, Query: mark.Sum32()})
	}
	return page, err
}

// selection checks a list request.
func (s *Service) selection(c memd.Caller, req memd.List) (store.Selection, error) {
	now := s.store.Now()
	sel := store.Selection{
		Raw: req.IncludeRaw, Kind: req.Kind, Tag: req.Tag, MemoryKey: req.MemoryKey, Stale: req.Stale, Q: req.Q, Session: req.SessionID, Limit: req.Limit,
		Scope:               store.Scope{Access: c.Held(req.Access), Now: now},
		FreshBefore:         memd.At(now.Add(-s.budgets.LongFreshFor)),
		PersonalFreshBefore: memd.At(now.Add(-s.budgets.PreferenceFreshFor)),
		Tiers:               []memd.Tier{memd.Long, memd.Short, memd.Archive},
	}
	if req.Limit == 0 {
		sel.Limit = memd.DefaultListLimit
	}
	switch {
	case sel.Limit < 1 || sel.Limit > memd.MaxListLimit:
		return sel, memd.FieldErrorf(memd.CodeInvalidRequest, "limit", "limit must be 1 to %d", memd.MaxListLimit)
	case req.Kind != "" && !req.Kind.Valid():
		return sel, memd.FieldErrorf(memd.CodeInvalidRequest, "kind", "kind is not one of %s", join(memd.AllKinds()))
	case req.Tier != "" && !req.Tier.Valid():
		return sel, memd.FieldErrorf(memd.CodeInvalidRequest, "tier", "tier is not one of %s", join(memd.AllTiers()))
	case utf8.RuneCountInString(req.Q) > memd.MaxQueryChars:
		return sel, memd.FieldErrorf(memd.CodeTooLarge, "q", "q has more than %d characters", memd.MaxQueryChars)
	}
	if req.Tier != "" {
		sel.Tiers = []memd.Tier{req.Tier}
	}
	if !Owns(c, "") { // everybody's sessions
		sel.Sessions = c.Identity()
	}
	if req.Namespace == "*" {
		if !c.Role.Includes(memd.RoleAdmin) {
			return sel, memd.FieldErrorf(memd.CodeForbidden, "namespace", "namespace=* is the administrator's")
		}
		sel.Scope.All = c.Namespaces == nil
		sel.Scope.Namespaces = c.Namespaces
		return sel, nil
	}
	ns, err := Namespace(c, req.Namespace)
	sel.Scope.Namespaces = []string{ns}
	return sel, err
}

func sealCursor(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // cursors are plain structs
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func openCursor(s string, v any) error {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// goneKeys bounds a page of Gone.
const goneKeys = 5000

// Gone returns keys of a namespace whose memories are no longer in force, so that what
// is kept elsewhere does not bring them back. It is the administrator's, for it tells
// also of memories under access tags.
func (s *Service) Gone(ctx context.Context, c memd.Caller, namespace, cursor string) (memd.GonePage, error) {
	if err := need(c, memd.RoleAdmin); err != nil {
		return memd.GonePage{}, err
	}
	ns, err := Namespace(c, namespace)
	if err != nil {
		return memd.GonePage{}, err
	}
	cur := listCursor{}
	if cursor != "" {
		if err := openCursor(cursor, &cur); err != nil || !memd.ValidKey(cur.Before) {
			return memd.GonePage{}, memd.FieldErrorf(memd.CodeInvalidRequest, "cursor", "cursor does not belong to this list")
		}
	}
	page := memd.GonePage{Gone: []memd.Gone{}}
	err = s.store.View(ctx, func(v *store.View) error {
		found, more, err := v.Gone(ns, cur.Before, goneKeys, s.store.Now())
		page.Gone = append(page.Gone, found...)
		if more != "" {
			page.NextCursor = sealCursor(listCursor{Before: more})
		}
		return err
	})
	return page, err
}

// manifestSummary bounds a manifest line's summary in code points.
const manifestSummary = 200

// Manifest returns at most memd.MaxManifest lines "[kind] key (age): summary",
// newest first, for an agent that chooses by itself: long heads by their key,
// short rows by their id.
func (s *Service) Manifest(ctx context.Context, c memd.Caller, namespace string, access []string) ([]string, error) {
	if err := need(c, memd.RoleRead); err != nil {
		return nil, err
	}
	ns, err := Namespace(c, namespace)
	if err != nil {
		return nil, err
	}
	now := s.store.Now()
	lines := []string{}
	err = s.store.View(ctx, func(v *store.View) error {
		rows, err := v.List(store.Selection{
			Scope: store.Scope{Namespaces: []string{ns}, Access: c.Held(access), Now: now},
			Tiers: []memd.Tier{memd.Long, memd.Short}, Limit: memd.MaxManifest,
		})
		for _, m := range rows {
			lines = append(lines, ManifestLine(m, now))
		}
		return err
	})
	return lines, err
}

// ManifestLine is a memory in the form of Manifest, with the start of a long
// summary, on one line.
func ManifestLine(m memd.Memory, now memd.Time) string {
	age := "today"
	switch days := m.AgeDays(now); {
	case days == 1:
		age = "1 day"
	case days > 1:
		age = fmt.Sprintf("%d days", days)
	}
	text := []rune(strings.Join(strings.Fields(m.Summary), " "))
	if len(text) > manifestSummary {
		text = append(text[:manifestSummary-1], '…')
	}
	return fmt.Sprintf("[%s] %s (%s): %s", m.Kind, first(m.MemoryKey, m.ID), age, string(text))
}
