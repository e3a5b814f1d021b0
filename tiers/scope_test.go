package tiers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
)

// tenants is a store of two namespaces with a row of each kind in each, and of
// rows under an access tag.
type tenants struct {
	*house
	mine, theirs, hidden []string // ids
}

func newTenants(t *testing.T) *tenants {
	x := &tenants{house: newHouse(t, nil)}
	for _, ns := range []string{"project/mine", "project/theirs"} {
		short := x.remember("a short row", func(r *memd.Remember) { r.Namespace = ns })
		long := x.keep("k", "a long row", func(r *memd.RememberLongTerm) { r.Namespace = ns })
		cold := x.remember("a cold row", func(r *memd.Remember) { r.Namespace = ns })
		x.must(second(x.Archive(ctx, ann, cold.ID)))
		ids := []string{cold.ID, long.ID, short.ID}
		if ns == "project/mine" {
			x.mine = ids
		} else {
			x.theirs = ids
		}
	}
	boss := memd.Caller{Name: "boss", Role: memd.RoleWrite, Access: []string{"hr"}}
	short, err := x.Remember(ctx, boss, memd.Remember{Summary: "a hidden short row", Namespace: "project/mine", Access: []string{"hr"}})
	x.must(err)
	long, err := x.RememberLongTerm(ctx, boss, longRequest("hidden", "a hidden long row", func(r *memd.RememberLongTerm) {
		r.Namespace, r.Access = "project/mine", []string{"hr"}
	}))
	x.must(err)
	x.hidden = []string{short.ID, long.ID}
	return x
}

// member sees one namespace and holds no access tag.
var member = memd.Caller{Name: "member", Role: memd.RoleWrite, Namespaces: []string{"project/mine"}}

// What a caller may not see is not there, on no path, and not to be changed.
func TestIsolation(t *testing.T) {
	x := newTenants(t)
	before := x.shell(`SELECT group_concat(id || updated_at || importance || tier) FROM memory`)
	for _, id := range append(slices.Clone(x.theirs), x.hidden...) {
		for name, err := range map[string]error{
			"get":     second(x.Get(ctx, member, id)),
			"patch":   second(x.Patch(ctx, member, id, memd.Patch{Importance: memd.Some(1)})),
			"forget":  x.Forget(ctx, member, id),
			"verify":  second(x.Verify(ctx, member, id, memd.Verify{})),
			"promote": second(x.Promote(ctx, member, id, memd.Promote{MemoryKey: "stolen", Source: agents})),
			"short":   second(x.Promote(ctx, member, id, memd.Promote{To: memd.Short})),
			"archive": second(x.Archive(ctx, member, id)),
			"hit":     second(x.Hit(ctx, member, id)),
		} {
			t.Run(name, func(t *testing.T) { refused(t, err, memd.CodeNotFound, "") })
		}
	}
	found, err := x.Batch(ctx, member, append(slices.Clone(x.theirs), append(x.hidden, x.mine...)...))
	x.must(err)
	if len(found) != len(x.mine) {
		t.Errorf("a batch shows %d rows, want %d", len(found), len(x.mine))
	}
	for name, err := range map[string]error{
		"list":     second(x.List(ctx, member, memd.List{Namespace: "project/theirs"})),
		"default":  second(x.List(ctx, member, memd.List{})), // a missing namespace means default, never all
		"all":      second(x.List(ctx, member, memd.List{Namespace: "*"})),
		"head":     second(x.Head(ctx, member, "project/theirs", "k")),
		"versions": second(x.Versions(ctx, member, "project/theirs", "k")),
		"forget":   x.ForgetKey(ctx, member, "project/theirs", "k"),
		"manifest": second(x.Manifest(ctx, member, "project/theirs", nil)),
		"remember": second(x.Remember(ctx, member, memd.Remember{Summary: "x", Namespace: "project/theirs"})),
		"long": second(x.RememberLongTerm(ctx, member, longRequest("k", "x", func(r *memd.RememberLongTerm) {
			r.Namespace = "project/theirs"
		}))),
	} {
		t.Run(name, func(t *testing.T) { refused(t, err, memd.CodeForbidden, "namespace") })
	}
	for name, err := range map[string]error{
		"hidden head":     second(x.Head(ctx, member, "project/mine", "hidden")),
		"hidden versions": second(x.Versions(ctx, member, "project/mine", "hidden")),
		"hidden forget":   x.ForgetKey(ctx, member, "project/mine", "hidden"),
	} {
		t.Run(name, func(t *testing.T) { refused(t, err, memd.CodeNotFound, "") })
	}
	got := x.list(member, memd.List{Namespace: "project/mine", Access: []string{"hr"}}) // named, but not held
	slices.Sort(got)
	want := slices.Sorted(slices.Values(x.mine))
	if !slices.Equal(got, want) {
		t.Errorf("a list shows %q, want %q", got, want)
	}
	lines, err := x.Manifest(ctx, member, "project/mine", []string{"hr"})
	if err != nil || len(lines) != 2 || strings.Contains(strings.Join(lines, ""), "hidden") {
		t.Errorf("the manifest is %q, %v", lines, err)
	}
	if after := x.shell(`SELECT group_concat(id || updated_at || importance || tier) FROM memory`); after != before {
		t.Error("a refused call changed a row")
	}
}

// Rows under access tags are listed where the request names every tag and the
// caller holds it; by id their holder needs to name nothing.
func TestAccessTagsInLists(t *testing.T) {
	x := newTenants(t)
	holder := memd.Caller{Name: "holder", Role: memd.RoleRead, Access: []string{"hr"}}
	both, err := x.Remember(ctx, admin, memd.Remember{Summary: "under two tags", Namespace: "project/mine", Access: []string{"hr", "pay"}})
	x.must(err)
	for name, c := range map[string]struct {
		caller memd.Caller
		named  []string
		want   int
	}{
		"holder, unnamed":    {holder, nil, 3},
		"holder, named":      {holder, []string{"hr"}, 5},
		"holder, more named": {holder, []string{"pay", "hr", "x"}, 5},
		"none held":          {reader, []string{"hr", "pay"}, 3},
		"admin names none":   {admin, nil, 3},
		"admin names one":    {admin, []string{"pay"}, 3},
		"admin names both":   {admin, []string{"pay", "hr"}, 6},
	} {
		if got := x.list(c.caller, memd.List{Namespace: "project/mine", Access: c.named}); len(got) != c.want {
			t.Errorf("%s: %d rows, want %d", name, len(got), c.want)
		}
	}
	for _, id := range x.hidden {
		if _, err := x.Get(ctx, holder, id); err != nil {
			t.Errorf("its holder cannot read a row: %v", err)
		}
	}
	if _, err := x.Get(ctx, holder, both.ID); memd.CodeOf(err) != memd.CodeNotFound {
		t.Error("one of two tags opens a row")
	}
}

// A role bounds what a caller may do; no role at all may do nothing.
func TestRoles(t *testing.T) {
	h := newHouse(t, nil)
	short, long := h.remember("x"), h.keep("k", "y")
	h.note(ann, "s", "z", "")
	nobody := memd.Caller{Name: "nobody"}
	writes := func(c memd.Caller) map[string]error {
		return map[string]error{
			"remember":           second(h.Remember(ctx, c, memd.Remember{Summary: "new"})),
			"remember_long_term": second(h.RememberLongTerm(ctx, c, longRequest("new", "new"))),
			"note":               second(h.Note(ctx, c, "t", memd.Note{Summary: "new"})),
			"end":                h.EndSession(ctx, c, "s"),
			"patch":              second(h.Patch(ctx, c, short.ID, memd.Patch{Importance: memd.Some(1)})),
			"forget":             h.Forget(ctx, c, short.ID),
			"forget key":         h.ForgetKey(ctx, c, "", "k"),
			"verify":             second(h.Verify(ctx, c, long.ID, memd.Verify{})),
			"promote":            second(h.Promote(ctx, c, short.ID, memd.Promote{MemoryKey: "l", Source: agents})),
			"archive":            second(h.Archive(ctx, c, short.ID)),
			"hit":                second(h.Hit(ctx, c, long.ID)),
		}
	}
	reads := func(c memd.Caller) map[string]error {
		return map[string]error{
			"get":      second(h.Get(ctx, c, short.ID)),
			"batch":    second(h.Batch(ctx, c, []string{short.ID})),
			"list":     second(h.List(ctx, c, memd.List{})),
			"head":     second(h.Head(ctx, c, "", "k")),
			"versions": second(h.Versions(ctx, c, "", "k")),
			"manifest": second(h.Manifest(ctx, c, "", nil)),
		}
	}
	for _, c := range []memd.Caller{reader, nobody} {
		for name, err := range writes(c) {
			t.Run(c.Name+" "+name, func(t *testing.T) { refused(t, err, memd.CodeForbidden, "") })
		}
	}
	for name, err := range reads(reader) {
		if err != nil {
			t.Errorf("a reader may not %s: %v", name, err)
		}
	}
	for name, err := range reads(nobody) {
		t.Run("nobody "+name, func(t *testing.T) { refused(t, err, memd.CodeForbidden, "") })
	}
	refused(t, second(h.Notes(ctx, nobody, "s")), memd.CodeForbidden, "")
	refused(t, second(h.List(ctx, ann, memd.List{Namespace: "*"})), memd.CodeForbidden, "namespace")
	if got := h.rows(); got != "1 1 1 0" {
		t.Errorf("rows %s after refusals", got)
	}
}

// An administrator of some namespaces is one of those.
func TestAdminOfSomeNamespaces(t *testing.T) {
	x := newTenants(t)
	some := memd.Caller{Name: "some", Role: memd.RoleAdmin, Namespaces: []string{"project/mine"}, AllAccess: true}
	got := x.list(some, memd.List{Namespace: "*", Access: []string{"hr"}})
	if len(got) != 5 {
		t.Errorf("namespace * shows %d rows, want the 5 of its own", len(got))
	}
	if got := x.list(admin, memd.List{Namespace: "*"}); len(got) != 6 {
		t.Errorf("the administrator's * shows %d rows, want 6", len(got))
	}
	none := memd.Caller{Name: "none", Role: memd.RoleAdmin, Namespaces: []string{}}
	if got := x.list(none, memd.List{Namespace: "*"}); len(got) != 0 {
		t.Errorf("an administrator of no namespace sees %d rows", len(got))
	}
}

// What has expired is gone from every read at once.
func TestExpiredIsGone(t *testing.T) {
	h := newHouse(t, nil)
	short := h.remember("x", func(r *memd.Remember) { r.ExpiresAt = h.at(time.Hour) })
	long := h.keep("k", "y")
	cold := h.remember("z")
	h.must(second(h.Archive(ctx, ann, cold.ID)))
	for _, id := range []string{long.ID, cold.ID} {
		h.must(second(h.Patch(ctx, ann, id, memd.Patch{ExpiresAt: memd.Some(h.at(time.Hour))})))
	}
	h.clock.Advance(time.Hour - time.Millisecond)
	if got := h.list(ann, memd.List{}); len(got) != 3 {
		t.Errorf("just before, a list shows %d rows", len(got))
	}
	h.clock.Advance(time.Millisecond)
	for _, id := range []string{short.ID, long.ID, cold.ID} {
		h.gone(id)
		refused(t, second(h.Patch(ctx, ann, id, memd.Patch{ExpiresAt: memd.Null[memd.Time]()})), memd.CodeNotFound, "")
	}
	if got := h.list(admin, memd.List{Namespace: "*"}); len(got) != 0 {
		t.Errorf("a list shows %q", got)
	}
	refused(t, second(h.Head(ctx, ann, "", "k")), memd.CodeNotFound, "")
	refused(t, second(h.Versions(ctx, ann, "", "k")), memd.CodeNotFound, "")
	if lines, err := h.Manifest(ctx, ann, "", nil); err != nil || len(lines) != 0 {
		t.Errorf("the manifest is %q, %v", lines, err)
	}
}
