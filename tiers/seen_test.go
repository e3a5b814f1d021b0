package tiers_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// inWriter reports whether the store's writer is under way in this goroutine.
func inWriter() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "memd/store.(*writer)") {
			return true
		}
		if !more {
			return false
		}
	}
}

// No guard looks at a text within a write: the writer waits for none.
func TestGuardsLookBeforeTheWrite(t *testing.T) {
	for name, d := range doors() {
		for _, mode := range []string{configs.GuardBlock, configs.GuardRedact} {
			h := newHouse(t, nil)
			looks := 0
			h.Service = h.WithGuard(with(mode)).Watched(func() {
				if looks++; inWriter() {
					t.Errorf("%s, %s: a guard looks within the write", name, mode)
				}
			})
			text := "the vault"
			if d.label() {
				text = "vault"
			}
			h.must(second(d.write(h, text)))
			d.write(h, aToken)
			if looks < 2 {
				t.Errorf("%s, %s: %d looks", name, mode, looks)
			}
		}
	}
	h := newHouse(t, nil)
	archived := h.remember("archived")
	h.must(second(h.Archive(ctx, ann, archived.ID)))
	looks := 0
	h.Service = h.Watched(func() {
		if looks++; inWriter() {
			t.Error("back to short: a guard looks within the write")
		}
	})
	h.must(second(h.Promote(ctx, ann, archived.ID, memd.Promote{To: memd.Short})))
	if looks != 1 {
		t.Errorf("back to short: %d looks", looks)
	}
	within := false
	h.must(h.store.Update(ctx, func(*store.Tx) error { within = inWriter(); return nil }))
	if !within || inWriter() {
		t.Error("the test does not know the writer")
	}
}

// A row that changes between the look and the write is looked at again.
func TestRowsThatChangeAreLookedAtAgain(t *testing.T) {
	for name, write := range map[string]func(h *house, id string) (memd.Written, error){
		"promote": func(h *house, id string) (memd.Written, error) {
			return h.Promote(ctx, ann, id, memd.Promote{MemoryKey: "k", Source: agents})
		},
		"back to short": func(h *house, id string) (memd.Written, error) {
			h.must(second(h.Archive(ctx, ann, id)))
			return h.Promote(ctx, ann, id, memd.Promote{To: memd.Short})
		},
	} {
		h := newHouse(t, nil)
		plain := h.Service
		row := h.remember("harmless till now")
		looks := 0
		h.Service = plain.WithGuard(with(configs.GuardBlock)).Watched(func() {
			if looks++; looks == 1 { // by hand: what is written then bypasses every guard
				h.shell(`UPDATE short SET summary = '` + hidden["plain"] + `'; UPDATE archive SET summary = '` + hidden["plain"] + `'`)
			}
		})
		_, err := write(h, row.ID)
		h.blocked(name, err, "summary")
		if looks != 2 {
			t.Errorf("%s: %d looks", name, looks)
		}

		h = newHouse(t, nil)
		row = h.remember("changed all the time")
		n := 0
		h.Service = h.Watched(func() {
			n++
			h.shell(fmt.Sprintf(`UPDATE short SET summary = 'changed %d times'; UPDATE archive SET summary = 'changed %d times'`, n, n))
		})
		_, err = write(h, row.ID)
		refused(t, err, memd.CodeStoreBusy, "")
	}
	h := newHouse(t, nil)
	row := h.remember("patched by two")
	plain, looks := h.Service, 0
	h.Service = h.Watched(func() {
		if looks++; looks == 1 {
			h.must(second(plain.Patch(ctx, ann, row.ID, memd.Patch{Importance: memd.Some(9)})))
		}
	})
	w := must(h.Patch(ctx, ann, row.ID, memd.Patch{Tags: memd.Some([]string{"a"})}))
	if w.Importance != 9 || fmt.Sprint(w.Tags) != "[a]" {
		t.Errorf("one of two patches is lost: %+v", w)
	}
}
