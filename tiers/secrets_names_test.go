package tiers_test

import (
	"strings"
	"testing"

	"memd"
	"memd/configs"
)

// Names that a caller makes up are looked at too: a namespace, and the access tags
// that a patch sets.
func TestSecretsInNames(t *testing.T) {
	h := newHouse(t, nil)
	namespace := "project/ghp_" + strings.ToLower("q7Xw2Lm9RtZ4kVb8Ns3Hd6Yc1Gf5Pj0QaEuT")
	for _, mode := range []string{configs.GuardBlock, configs.GuardRedact} {
		h.Service = h.WithGuard(with(mode))
		_, err := h.Remember(ctx, admin, memd.Remember{Summary: "the bot pushes", Namespace: namespace})
		h.blocked("short namespace", err, "namespace")
		_, err = h.RememberLongTerm(ctx, admin, longRequest("k", "the bot pushes", func(r *memd.RememberLongTerm) { r.Namespace = namespace }))
		h.blocked("long namespace", err, "namespace")
		id := h.remember("the bot pushes " + mode).ID
		_, err = h.Patch(ctx, admin, id, memd.Patch{Access: memd.Some([]string{"hr", aToken})})
		h.blocked("patched access", err, "access")
	}
	h.clean("the folder", h.bytes())
	if strings.Contains(h.bytes(), namespace) {
		t.Error("the namespace is in the folder")
	}
}

// An archived row is guarded as the tier that it came from: with a key as a long
// one, without as a short one.
func TestSecretsInArchivedRows(t *testing.T) {
	h := newHouse(t, nil)
	pitfall := h.keep("trap", "the bot pushes twice", func(r *memd.RememberLongTerm) { r.Kind = memd.Pitfall })
	resolved, err := h.Patch(ctx, ann, pitfall.ID, memd.Patch{ResolvedAt: memd.Some(h.now())})
	h.must(err)
	if resolved.Tier != memd.Archive || resolved.MemoryKey != "trap" {
		t.Fatalf("the resolved pitfall is %+v", resolved)
	}
	plain := h.remember("the bot pushes once")
	h.must(second(h.Archive(ctx, ann, plain.ID)))
	tagged := memd.Patch{Tags: memd.Some([]string{aToken})}
	_, err = h.Patch(ctx, ann, resolved.ID, tagged)
	h.blocked("with a key", err, "tags")
	w, err := h.Patch(ctx, ann, plain.ID, tagged)
	if err != nil || len(w.Tags) != 1 || !strings.HasPrefix(w.Tags[0], "[redacted:") {
		t.Errorf("without a key: %q, %v", w.Tags, err)
	}
	h.clean("the folder", h.bytes())
}
