package folder_test

import (
	"strings"
	"testing"
	"time"

	"memd/configs"
	"memd/exchange/folder"
)

const aDay = 24 * time.Hour

// datedPlace is a place in which it is Monday, 2026-11-30, 10:00 UTC, and whose store puts
// dates beside the words that tell them.
func datedPlace(t *testing.T) *place {
	p := newPlace(t, nil)
	p.clock.Advance(time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).Sub(p.clock.Now()))
	p.store.Service = p.store.WithDates(configs.Dates{Absolute: true, TimeZone: "UTC"})
	return p
}

const plan = `---
name: plan
description: The branch is cut on Thursday
type: project
---
Ship next week.
Tell the others.

**Why:** the fair opens on Friday

**How to apply:** ask tomorrow
`

// A note that tells dates by words keeps those of the day on which the words were new:
// while it lies there, in whatever direction it is taken, and where a person edits
// something else in it. The dates come into the file by an export alone.
func TestDatesOverDays(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			p := datedPlace(t)
			p.write("plan.md", plan)
			take := way
			if name == "export" {
				take = folder.Import
			}
			p.want("the first import", p.did(take), "1 created")
			want := map[string]string{"import": "1 unchanged", "export": "1 updated", "both": "1 unchanged"}
			p.want("what follows", p.did(way), want[name])
			lies := func(version int, texts ...string) {
				t.Helper()
				for range 8 {
					p.clock.Advance(aDay)
					p.want("a day later", p.did(way), "1 unchanged")
				}
				m := p.row("project/x", "plan")
				if got := strings.Join([]string{m.Summary, m.RawContent, m.Why, m.HowToApply}, "\n"); m.Version != version || got != strings.Join(texts, "\n") {
					t.Errorf("version %d: %s", m.Version, got)
				}
			}
			const cut, ship, why, how = "The branch is cut on Thursday (2026-12-03)", "Ship next week (2026-12-07 to 2026-12-13).", "the fair opens on Friday (2026-12-04)", "ask tomorrow (2026-12-01)"
			lies(1, cut, ship+"\nTell the others.", why, how)
			if file := p.read("plan.md"); strings.Contains(file, "Friday (2026-12-04)") == (name == "import") {
				t.Errorf("the file is %s", file)
			}
			p.write("plan.md", strings.Replace(p.read("plan.md"), "Tell the others.", "Tell the others today.", 1))
			p.want("the edit", p.did(take), "1 updated")
			p.did(way)
			lies(2, cut, ship+"\nTell the others today (2026-12-08).", why, how)
			p.write("plan.md", strings.NewReplacer("Thursday (2026-12-03)", "Thursday (2026-12-17)", "on Thursday\n", "on Thursday (2026-12-17)\n").Replace(p.read("plan.md")))
			p.want("another date", p.did(take), "1 updated")
			p.did(way)
			lies(3, "The branch is cut on Thursday (2026-12-17)", ship+"\nTell the others today (2026-12-08).", why, how)
		})
	}
}

// An editor that still shows the words without their dates saves them so: the dates come
// back, and the edit holds.
func TestDatesOfAnOldBuffer(t *testing.T) {
	p := datedPlace(t)
	p.write("plan.md", plan)
	p.did(folder.Sync)
	p.clock.Advance(7 * aDay)
	p.write("plan.md", strings.Replace(plan, "Tell the others.", "Tell them.", 1))
	p.want("the save", p.did(folder.Sync), "1 updated")
	m := p.row("project/x", "plan")
	if m.Version != 2 || m.Summary != "The branch is cut on Thursday (2026-12-03)" || m.RawContent != "Ship next week (2026-12-07 to 2026-12-13).\nTell them." {
		t.Errorf("version %d: %s, %s", m.Version, m.Summary, m.RawContent)
	}
	if file := p.read("plan.md"); !strings.Contains(file, "Thursday (2026-12-03)") || !strings.Contains(file, "Tell them.") {
		t.Errorf("the file is %s", file)
	}
}
