package recall

import (
	"fmt"
	"slices"
	"strings"

	"memd"
	"memd/store"
	"memd/tiers"
)

// target is the memory that a why asks about, as far as its caller may know of
// it.
type target struct {
	m    *memd.Memory // whole, as it is stored; nil: there is no such row
	head store.Head   // of its key

	// Without a row: why, and the namespace where that is known.
	why       memd.WhyReason
	said      string
	namespace string
}

// find looks the memory up. Where nothing is found that the caller may know of,
// all databases have been asked, so that one that cannot be read shows whoever
// asks and for whatever.
func (w *inquiry) find(v *store.View) (target, error) {
	look := w.byKey
	if w.req.ID != "" {
		look = w.byID
	}
	t, err := look(v)
	if err != nil || t.m != nil {
		return t, err
	}
	if t.why == "" {
		if f, err := w.forgotten(v); err != nil || f.why != "" {
			return f, err
		}
	}
	unread, err := v.Unavailable()
	if err != nil {
		return target{}, err
	}
	if len(unread) > 0 {
		return target{why: memd.WhyUnavailable, said: "it may stand in a database that cannot be read: " + strings.Join(unread, ", ")}, nil
	}
	if t.why != "" {
		return t, nil
	}
	if w.req.MemoryKey != "" {
		if t, err := w.elsewhere(v); err != nil || t.m != nil {
			return t, err
		}
	} else if t, err := w.gone(v); err != nil || t.why != "" {
		return t, err
	}
	return target{why: memd.WhyNeverWritten, said: "nothing of that name was ever written that the caller may know of"}, nil
}

// byID finds a row by its id, superseded versions too.
func (w *inquiry) byID(v *store.View) (target, error) {
	m, ok, err := v.Get(w.req.ID)
	if unread(v, err) {
		return target{}, nil
	}
	if err != nil || !ok {
		return target{}, err
	}
	return w.known(v, &m)
}

// unread reports whether an error only says that a database cannot be read.
func unread(v *store.View, err error) bool {
	if err == nil || v.Err() != nil {
		return false
	}
	names, failed := v.Unavailable()
	return failed == nil && len(names) > 0
}

// known is the target that a row is, the zero one where the caller may not know
// of it.
func (w *inquiry) known(v *store.View, m *memd.Memory) (target, error) {
	c := w.p.caller
	if !c.Sees(m.Namespace) || !c.Holds(m.Access) {
		return target{}, nil
	}
	if m.Tier == memd.Transient {
		owner, err := v.SessionOwner(m.SessionID)
		if err != nil || !tiers.Owns(c, owner) {
			return target{}, err
		}
	}
	t := target{m: m}
	if m.MemoryKey == "" {
		return t, nil
	}
	var err error
	t.head, _, err = v.Head(m.Namespace, m.MemoryKey)
	return t, err
}

// byKey finds a key's current row: of the requested namespaces the first in
// which a recall could find it, else the first that has one at all.
func (w *inquiry) byKey(v *store.View) (target, error) {
	names := slices.Clone(w.p.scope.Namespaces)
	for i, ns := range names {
		live, err := v.HasHead(w.p.scope, ns, w.req.MemoryKey)
		if err != nil {
			return target{}, err
		}
		if live {
			names = slices.Insert(slices.Delete(names, i, i+1), 0, ns)
			break
		}
	}
	return w.firstOf(v, names)
}

// elsewhere finds a key's row in the other namespaces that the caller sees.
func (w *inquiry) elsewhere(v *store.View) (target, error) {
	names, err := v.NamespacesOf(w.req.MemoryKey)
	if err != nil {
		return target{}, err
	}
	names = slices.DeleteFunc(names, func(ns string) bool {
		return !w.p.caller.Sees(ns) || slices.Contains(w.p.scope.Namespaces, ns)
	})
	t, err := w.firstOf(v, names)
	if t.m == nil {
		t = target{}
	}
	return t, err
}

// firstOf is the first row of the key in some namespaces; failing that, the first
// whose row was deleted by hand.
func (w *inquiry) firstOf(v *store.View, names []string) (none target, err error) {
	for _, ns := range names {
		t, err := w.current(v, ns)
		if err != nil || t.m != nil {
			return t, err
		}
		if none.why == "" {
			none = t
		}
	}
	return none, nil
}

// current is a key's row in one namespace: its head, or the version that was
// archived as it.
func (w *inquiry) current(v *store.View, ns string) (target, error) {
	head, ok, err := v.Head(ns, w.req.MemoryKey)
	if err != nil || !ok {
		return target{}, err
	}
	m, ok, err := v.Row(head)
	if unread(v, err) {
		return target{}, nil
	}
	if err != nil {
		return target{}, err
	}
	if ok {
		return w.known(v, &m)
	}
	return w.headless(v, ns, head)
}

// headless is current where the head names no row.
func (w *inquiry) headless(v *store.View, ns string, head store.Head) (target, error) {
	versions, err := v.Versions(ns, w.req.MemoryKey)
	if unread(v, err) {
		return target{}, nil
	}
	if err != nil {
		return target{}, err
	}
	hidden := len(versions) == 0 && !w.p.caller.AllAccess // nobody can tell what tags it had
	for i := range versions {
		m := &versions[i]
		hidden = hidden || !w.p.caller.Holds(m.Access)
		if m.Tier != memd.Archive || m.Version < head.Version {
			continue
		}
		whole, ok, err := v.Get(m.ID)
		if err != nil || !ok {
			return target{}, err
		}
		return w.known(v, &whole)
	}
	if hidden {
		return target{}, nil
	}
	return target{
		why: memd.WhyDeletedByHand, namespace: ns,
		said: fmt.Sprintf("its key went up to version %d, whose row was deleted by hand; no older one takes its place", head.Version),
	}, nil
}

// forgotten tells of a tombstone. Whoever does not hold every access tag hears
// only of what had none.
func (w *inquiry) forgotten(v *store.View) (target, error) {
	graves, err := v.Graves(w.req.ID, w.p.scope.Namespaces, w.req.MemoryKey)
	if err != nil {
		return target{}, err
	}
	for _, g := range graves {
		if !w.p.caller.Sees(g.Namespace) || !g.Open && !w.p.caller.AllAccess {
			continue
		}
		return target{
			why: memd.WhyForgotten, namespace: g.Namespace,
			said: fmt.Sprintf("it was forgotten on %s; the tombstone %s keeps imports from bringing it back", date(g.At), g.ID),
		}, nil
	}
	return target{}, nil
}

// gone tells of a row that the audit log names and nothing else does. What tags it
// had is known of none, so that only a caller who holds them all hears of it.
func (w *inquiry) gone(v *store.View) (target, error) {
	if !w.p.caller.AllAccess {
		return target{}, nil
	}
	last, ok, err := v.LastSeen(w.req.ID)
	if err != nil || !ok || !w.p.caller.Sees(last.Namespace) {
		return target{}, err
	}
	t := target{
		why: memd.WhyGone, namespace: last.Namespace,
		said: fmt.Sprintf("it was last written on %s and is there no more: its time ran out, it made room under a budget, or it was deleted by hand", date(last.At)),
	}
	if last.Action == tiers.Pruned {
		t.said = fmt.Sprintf("it was pruned by %s on %s, as a retention or a budget has it", last.Caller, date(last.At))
	}
	return t, nil
}

// versionsKnown are the versions of a key that the caller may know of.
func (w *inquiry) versionsKnown(v *store.View, ns, key string) ([]memd.Memory, error) {
	versions, err := v.Versions(ns, key)
	if unread(v, err) {
		return nil, nil
	}
	return slices.DeleteFunc(versions, func(m memd.Memory) bool { return !w.p.caller.Holds(m.Access) }), err
}

// date is the day of a time.
func date(t memd.Time) string {
	if t.IsZero() {
		return "an unknown day"
	}
	return t.String()[:len("2006-01-02")]
}
