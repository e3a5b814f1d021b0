package groom_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/store"
	"memd/tiers"
)

// A groom that could not look into a historical database does the rest and is not
// whole; every pass says so, and the log once.
func TestGroomWithoutADatabase(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"corrupt": func(path string) error {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			page := int(content[16])<<8 | int(content[17]) // sqlite.org/fileformat2.html, 1.3.2
			return os.WriteFile(path, append(content[:page:page], bytes.Repeat([]byte{0xa5}, len(content)-page)...), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			h := newHouse(t)
			h.remember(memd.Remember{Summary: "in the database that is lost"})
			file := h.roll().File
			h.remember(memd.Remember{Summary: "in another database"})
			h.roll()
			h.groom(groom.Options{})
			full, hourly := h.meta("last_groom_at"), h.meta("last_light_groom_at")
			brief := h.remember(memd.Remember{Summary: "for an hour", ExpiresAt: memd.At(h.clock.Now().Add(time.Hour))})
			h.must(h.store.Close())
			h.must(spoil(filepath.Join(h.dir, file)))
			h.clock.Advance(2 * time.Hour)

			var logged bytes.Buffer
			s, err := store.Open(ctx, store.Options{Dir: h.dir, Budgets: configs.DefaultBudgets(), Now: h.clock.Now})
			h.must(err)
			defer s.Close()
			h.store, h.tiers, h.runner = s, tiers.New(s), groom.New(s, slog.New(slog.NewTextHandler(&logged, nil)))
			for _, opts := range []groom.Options{{DryRun: true}, light, {}} {
				logged.Reset()
				report, err := h.runner.Run(ctx, opts)
				h.must(err)
				for _, p := range report.Passes {
					if p.Error != string(memd.CodeStoreFailed) {
						t.Errorf("%+v: the pass %s says %q", opts, p.Name, p.Error)
					}
				}
				if n := strings.Count(logged.String(), "\n"); report.Whole() || report.Failed() == nil || n != 1 || !strings.Contains(logged.String(), filepath.Base(file)) {
					t.Errorf("%+v: whole %v, failed %v, logged %s", opts, report.Whole(), report.Failed(), logged.String())
				}
			}
			if left := h.shell(`SELECT id FROM short WHERE id = '` + brief.ID + `'`); left != "" {
				t.Error("what could be done was not")
			}
			if h.meta("last_groom_at") != full || h.meta("last_light_groom_at") != hourly {
				t.Error("the run counts as a success")
			}
			box := groom.Box{}
			audit, err := groom.NewAuditor(groom.AuditorOptions{
				Store: s, Scan: func(*memd.Memory) []string { return nil },
				Recall: func(context.Context, memd.Caller, memd.Query) (memd.Answer, error) { return memd.Answer{}, nil },
			}).Audit(ctx, root, groom.AuditOptions{})
			h.must(err)
			for _, b := range audit.Boxes {
				if strings.HasPrefix(b.Box, "8.2") {
					box = b
				}
			}
			if box.Verdict != groom.VerdictFail {
				t.Errorf("%+v", box)
			}
		})
	}
}
