package groom_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"memd"
	"memd/configs"
	"memd/groom"
	"memd/store"
)

// Of any store a groom keeps what it must keep: -rapid.checks asks for more
// stores than the few that are made each time.
func TestGroomKeepsItsWord(t *testing.T) {
	if asked := flag.Lookup("rapid.checks"); asked.Value.String() == asked.DefValue {
		if err := flag.Set("rapid.checks", "8"); err != nil {
			t.Fatal(err)
		}
		defer flag.Set("rapid.checks", asked.DefValue)
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := &property{rt: rt, house: houseUnder(t, func(b *configs.Budgets) {
			b.LongVersions = rapid.IntRange(1, 4).Draw(rt, "long_versions")
			b.ShortRows = rapid.SampledFrom([]int{30, 5000}).Draw(rt, "short_rows")
			b.ArchiveRows = rapid.SampledFrom([]int{20, 50000}).Draw(rt, "archive_rows")
			b.PerNamespace = rapid.SampledFrom([]float64{0, 0.5}).Draw(rt, "per_namespace")
		})}
		defer p.store.Close()
		for range rapid.IntRange(5, 40).Draw(rt, "steps") {
			p.step()
		}
		p.check()
		findings, err := p.store.Check(context.Background(), false)
		p.must(err)
		for _, f := range findings {
			rt.Errorf("the store is damaged: %s: %s", f.Check, f.Detail)
		}
	})
}

// property is a store of which anything may have become.
type property struct {
	rt *rapid.T
	*house
	rows []memd.Memory // that were written, whatever became of them
}

// ages are those at which something changes, and to either side.
var ages = []time.Duration{0, time.Hour, 7 * day, 7*day + time.Millisecond, 29 * day, 31 * day, 91 * day, 365*day + time.Millisecond, 400 * day}

func (p *property) some() memd.Memory { return rapid.SampledFrom(p.rows).Draw(p.rt, "row") }

// step does one thing to the store.
func (p *property) step() {
	rt, ctx := p.rt, context.Background()
	age := rapid.SampledFrom(ages).Draw(rt, "age")
	space := rapid.SampledFrom([]string{memd.DefaultNamespace, "project/x"}).Draw(rt, "namespace")
	do := rapid.IntRange(0, 12).Draw(rt, "do")
	if len(p.rows) == 0 {
		do = 0
	}
	switch do {
	case 0, 1, 2: // short or archived rows, as they were written long ago
		tier := rapid.SampledFrom([]memd.Tier{memd.Short, memd.Archive}).Draw(rt, "tier")
		keyed := tier == memd.Archive && rapid.Bool().Draw(rt, "keyed")
		expires := rapid.Bool().Draw(rt, "expires")
		importance, reads := rapid.IntRange(1, 10).Draw(rt, "importance"), rapid.IntRange(0, 4).Draw(rt, "reads")
		for range rapid.SampledFrom([]int{1, 3, 130}).Draw(rt, "how many") {
			p.rows = append(p.rows, p.aged(tier, age, func(m *memd.Memory) {
				m.Namespace, m.Importance, m.AccessCount = space, importance, reads
				if keyed {
					m.MemoryKey, m.Version = fmt.Sprint("archived", p.made), 1
				}
				if expires {
					m.ExpiresAt = memd.At(p.clock.Now().Add(time.Duration(importance) * time.Minute))
				}
			}))
		}
	case 3, 4, 5: // versions of a key
		key, kind := fmt.Sprint("k", rapid.IntRange(0, 2).Draw(rt, "key")), memd.Fact
		if key == "k2" {
			kind = memd.Pitfall
		}
		for n := range rapid.IntRange(1, 4).Draw(rt, "versions") {
			p.made++
			out, err := p.tiers.RememberLongTerm(ctx, root, memd.RememberLongTerm{MemoryKey: key, Namespace: space, Kind: kind, Source: "AGENTS.md",
				Summary: fmt.Sprint("version ", p.made, " and ", n), VerifiedAt: memd.At(p.clock.Now().Add(-age))})
			p.must(err)
			p.rows = append(p.rows, out.Memory)
		}
	case 6:
		p.must(second(p.tiers.Note(ctx, root, "s", memd.Note{Summary: fmt.Sprint("note ", len(p.rows)), TTL: "90s"})))
	case 7:
		if _, err := p.store.Rollover(ctx); err != nil {
			p.must(err)
		}
	case 8: // by hand
		m := p.some()
		where := ` WHERE id = '` + m.ID + `'`
		p.shell(rapid.SampledFrom([]string{
			`DELETE FROM long` + where, `DELETE FROM short` + where,
			`UPDATE long SET summary = summary || ' 手改'` + where, `UPDATE short SET summary = summary || ' edited'` + where,
			`UPDATE long SET importance = 9` + where, `UPDATE short SET importance = 9` + where,
			`UPDATE long SET resolved_at = verified_at WHERE kind = 'pitfall'`,
		}).Draw(rt, "by hand"))
	case 9:
		if _, err := p.tiers.Get(ctx, root, p.some().ID); err != nil && memd.CodeOf(err) != memd.CodeNotFound {
			p.must(err)
		}
	case 10:
		m := p.some()
		p.shell(`INSERT OR REPLACE INTO embedding (memory_id, model, dim, vec, bits)
SELECT id, 'm', 8, x'0102030405060708', x'ff' FROM memory WHERE tier <> 'transient' AND id = '` + m.ID + `'`)
	case 11:
		at := memd.At(p.clock.Now().Add(-min(age, 48*time.Hour)))
		p.shell(`INSERT OR REPLACE INTO imported SELECT id, '` + at.String() + `' FROM short WHERE rid % 2 = 0 UNION SELECT id, '` + at.String() + `' FROM archive WHERE rid % 2 = 0`)
	case 12:
		p.clock.Advance(time.Minute)
	}
}

// all are the rows of the store by id, and its heads by namespace and key.
func (p *property) all() (rows map[string]memd.Memory, heads map[string]string) {
	p.t.Helper()
	rows, heads = map[string]memd.Memory{}, map[string]string{}
	for line := range strings.Lines(p.everywhere(`SELECT id, tier FROM memory`)) {
		id := strings.Split(line, "'")[1]
		if m, ok := p.row(id); ok {
			rows[id] = m
		}
	}
	p.must(p.store.View(context.Background(), func(v *store.View) error {
		return v.EachHead(func(m memd.Memory, _ store.Head) error {
			heads[m.Namespace+" "+m.MemoryKey] = m.ID
			return nil
		})
	}))
	return rows, heads
}

// check grooms the store and holds it against what may become of it.
func (p *property) check() {
	t, ctx := p.rt, context.Background()
	p.must(p.store.FlushAccess(ctx))
	before, heads := p.all()
	unread := map[string]int{}
	imported := p.everywhere(`SELECT memory_id FROM imported WHERE at > '` + memd.At(p.clock.Now().Add(-day)).String() + `'`)
	p.must(p.store.View(ctx, func(v *store.View) (err error) {
		unread, err = v.Unfolded()
		return err
	}))
	tables := p.allTables()
	dry := p.groom(groom.Options{DryRun: true})
	if p.allTables() != tables {
		t.Error("the dry run changed something")
	}
	report := p.groom(groom.Options{})
	for i, did := range report.Passes {
		said := dry.Passes[i]
		slices.Sort(did.IDs)
		slices.Sort(said.IDs)
		if did.Planned != said.Planned || did.Changed != said.Changed || did.Capped != said.Capped || !slices.Equal(did.IDs, said.IDs) || did.Skipped != 0 {
			t.Errorf("the dry run said %+v, the run did %+v", said, did)
		}
	}
	after, headsAfter := p.all()
	budgets := p.store.Budgets()
	versions := map[string]int{} // that stand in the long tier: the newest
	judged := 0
	for _, m := range after {
		if m.Tier == memd.Long {
			versions[m.Namespace+" "+m.MemoryKey] = max(versions[m.Namespace+" "+m.MemoryKey], m.Version)
		}
	}
	now, enforced := p.clock.Now(), p.pass(report, "enforce_budgets").Changed > 0
	for id, was := range before {
		is, there := after[id]
		key := was.Namespace + " " + was.MemoryKey
		age := now.Sub(was.WrittenAt.Time)
		expired := !was.ExpiresAt.IsZero() && !was.ExpiresAt.After(now)
		switch {
		case was.Tier == memd.Long && !there && versions[key] <= was.Version:
			t.Errorf("version %d of %s is gone, and the newest that stands is %d", was.Version, key, versions[key])
		case was.Tier == memd.Long && !there && heads[key] == id:
			t.Errorf("the head of %s is gone", key)
		case was.Tier == memd.Archive && was.MemoryKey != "" && !there:
			t.Errorf("the archived row of %s is gone", key)
		case was.Tier == memd.Archive && !there && !expired && !enforced && (age <= budgets.ArchiveRetention || strings.Contains(imported, id)):
			t.Errorf("an archived row of %s is gone", age)
		case was.Tier == memd.Short && !there && !expired && !enforced:
			t.Errorf("a short row is gone")
		case was.Tier == memd.Short && is.Tier == memd.Archive && !enforced &&
			(age <= budgets.ShortRetention || was.Importance >= 7 || was.AccessCount+unread[id] >= 3):
			if judged++; age <= budgets.ShortArchiveAfter || was.AccessCount+unread[id] > 0 || was.Importance > 5 || strings.Contains(imported, id) {
				t.Errorf("a row of importance %d, %d accesses and %s was archived", was.Importance, was.AccessCount, age)
			}
		}
		if there && is.AccessCount != was.AccessCount+unread[id] {
			t.Errorf("the %s row has %d accesses, it had %d and %d more", is.Tier, is.AccessCount, was.AccessCount, unread[id])
		}
		if there && is.VerifiedAt != was.VerifiedAt {
			t.Errorf("verified_at moved from %s to %s", was.VerifiedAt, is.VerifiedAt)
		}
	}
	if judged > 100 { // a twentieth of no tier is more here
		t.Errorf("%d rows were judged away", judged)
	}
	for key, id := range heads {
		if headsAfter[key] != id && (before[id].ResolvedAt.IsZero() || after[id].Tier != memd.Archive) {
			t.Errorf("the head of %s was %s and is %q", key, id, headsAfter[key])
		}
	}
	for key := range headsAfter {
		if heads[key] == "" {
			t.Errorf("%s has got a head", key)
		}
	}
	p.again(report)
}

// again grooms a second time, which changes nothing but where the first was
// capped.
func (p *property) again(first groom.Report) {
	tables := p.allTables()
	capped := slices.ContainsFunc(first.Passes, func(p groom.Pass) bool { return p.Capped })
	for _, pass := range p.groom(groom.Options{}).Passes {
		if !capped && (pass.Changed != 0 || pass.Planned != 0 && pass.Name != "report_duplicates") {
			p.rt.Errorf("the second run: %+v", pass)
		}
	}
	if !capped && p.allTables() != tables {
		p.rt.Error("the second run changed a row, an index entry or a vector")
	}
}
