package groom

import (
	"fmt"
	"slices"
	"strings"

	"memd"
)

// owned decides 8.1.
func owned(e *evidence) outcome {
	var bad, kinds []string
	for _, k := range memd.AllKinds() {
		heads := e.ofKind(k)
		if len(heads) == 0 || strings.TrimSpace(e.opts.Owners[string(k)]) != "" {
			continue
		}
		nobodys := failing(heads, func(h head) bool { return strings.TrimSpace(h.Owner) == "" })
		if len(nobodys) > 0 {
			kinds = append(kinds, string(k))
		}
		bad = append(bad, nobodys...)
	}
	how := "every kind that has long rows has an owner in the configuration (owners:), or each of its rows names one"
	if len(kinds) > 0 {
		how += "; without one: " + strings.Join(kinds, ", ")
	}
	return e.judge(len(e.heads), bad, how, "name an owner of the kind under owners: in memd.yaml, or memd edit ID --owner NAME")
}

// groomRan decides 8.2.
func groomRan(e *evidence) outcome {
	o := e.judgeMeta("last_groom_at is within 8 days, and no later full run failed", "memd groom")
	o.looked = len(e.heads) + len(e.shorts) + e.passing
	last := "never"
	if !e.lastFull.IsZero() {
		last = e.lastFull.String()
	}
	o.how += "; last: " + last
	o.wrong = o.looked > 0 && (e.lastFull.IsZero() || e.now.Sub(e.lastFull.Time) > overdueAfter)
	for _, r := range e.reports {
		if r.Light || r.DryRun {
			continue
		}
		if !r.Whole() && r.FinishedAt.After(e.lastFull.Time) {
			o.wrong = true
			for _, p := range r.Passes {
				if p.Error != "" {
					o.how += fmt.Sprintf("; the pass %s of %s failed: %s", p.Name, r.FinishedAt, p.Error)
				}
			}
		}
		break
	}
	return o
}

// budgetsMatch decides 8.3.
func budgetsMatch(e *evidence) outcome {
	var wrong []string
	want := map[string]bool{}
	for _, b := range e.opts.Store.Budgets().Map() {
		key := "budgets." + b.Key
		want[key] = true
		if e.metas[key] != b.Value {
			wrong = append(wrong, b.Key)
		}
	}
	for key := range e.metas {
		if name, ok := strings.CutPrefix(key, "budgets."); ok && !want[key] {
			wrong = append(wrong, name)
		}
	}
	slices.Sort(wrong)
	o := e.judgeMeta("each budgets.* in meta is that of the configuration in force", "restart the daemon, or memd groom where none runs: either puts them in force; delete what memd does not know in the sqlite3 shell")
	if o.wrong = len(wrong) > 0; o.wrong {
		o.how += "; other: " + strings.Join(wrong, ", ")
	}
	return o
}
