package groom

import (
	"context"

	"memd"
	"memd/guard/sources"
	"memd/store"
	"memd/tiers"
)

// Verdict is what became of a box of the checklist.
type Verdict string

// Verdicts.
const (
	VerdictPass Verdict = "pass"
	VerdictFail Verdict = "fail"
	VerdictNone Verdict = "n/a" // there was nothing to look at
)

// Box is one box of the checklist. It names rows by their ids and never holds a
// body.
type Box struct {
	Section string   `json:"section"`
	Box     string   `json:"box"` // its number, such as 1.1, and its wording
	Verdict Verdict  `json:"verdict"`
	How     string   `json:"how"`           // by which rule it was decided, and what was seen
	IDs     []string `json:"ids"`           // of the rows that fail it, the first maxBoxIDs
	Fix     string   `json:"fix,omitempty"` // the command that mends it
}

// maxBoxIDs bounds the ids of one box; how says how many more there are.
const maxBoxIDs = 100

// Audit is the outcome of the checklist.
type Audit struct {
	Passed     int       `json:"passed"`
	Applicable int       `json:"applicable"`
	Boxes      []Box     `json:"boxes"`
	Sample     []Sampled `json:"sample"`
}

// Drifting reports whether the store is drifting: ten or more boxes apply and
// fewer than seven pass.
func (a Audit) Drifting() bool { return a.Applicable >= 10 && a.Passed < 7 }

// Failed reports whether any box failed.
func (a Audit) Failed() bool { return a.Passed < a.Applicable }

// AuditOptions are what a caller asks of an audit.
type AuditOptions struct {
	Sample int // how many long rows answer the four questions, at most MaxSample
}

// MaxSample bounds a sample.
const MaxSample = 200

// AuditorOptions are what an Auditor needs. Sources and Scan have defaults.
type AuditorOptions struct {
	Store   *store.Set
	Sources *sources.Checker
	Owners  map[string]string // the owner of a kind's rows

	// Recall answers as the engine does; it is asked once for each head of a
	// namespace that has short rows.
	Recall func(context.Context, memd.Caller, memd.Query) (memd.Answer, error)
	// Scan names the rules by which a guard would find secrets and personal data in a
	// memory.
	Scan func(*memd.Memory) []string
}

// Auditor goes through the checklist. It is safe for concurrent use, and changes
// nothing.
type Auditor struct{ opts AuditorOptions }

// NewAuditor makes an Auditor on an open store.
func NewAuditor(opts AuditorOptions) *Auditor {
	if opts.Sources == nil {
		opts.Sources = sources.New(nil)
	}
	if opts.Scan == nil {
		opts.Scan = tiers.New(opts.Store).Findings
	}
	return &Auditor{opts: opts}
}

// box is one box: what it says, and the rule that decides it.
type box struct {
	says   string
	decide func(*evidence) outcome
}

// checklist is that of the seed: its sections, boxes and wording.
var checklist = [...]struct {
	section string
	boxes   []box
}{
	{"1. Rules (long-term)", []box{
		{"1.1 Every long-term rule has a memory_key", keyed},
		{"1.2 Every rule has a source", sourced},
		{"1.3 verified_at is within the freshness window", fresh},
		{"1.4 The source link still resolves", resolves},
		{"1.5 No duplicate rules with different wording", distinct},
	}},
	{"2. Best practices (long-term)", []box{
		{"2.1 Each practice names the scenario it applies to", scenario},
		{"2.2 No practice contradicts a rule", consistent},
		{"2.3 Outdated tool / framework versions are removed", current},
	}},
	{"3. Pitfalls (long-term)", []box{
		{"3.1 Each pitfall describes the symptom AND the fix", symptomAndFix},
		{"3.2 Resolved pitfalls are archived, not deleted", resolvedArchived},
		{"3.3 No pitfall has been triggered more than twice since last groom", rarelyHit},
	}},
	{"4. Preferences & facts (long-term)", []box{
		{"4.1 User / team preferences are still current", preferencesCurrent},
		{"4.2 Project facts match the repo", factsMatch},
	}},
	{"5. Short-term hygiene", []box{
		{"5.1 Expired transient rows are gone", expiredGone},
		{"5.2 Low-value short-term rows are archived or pruned", lowValueGone},
		{"5.3 No short-term row is being recalled ahead of a long-term rule on the same topic", ruleFirst},
	}},
	{"6. Archive & storage", []box{
		{"6.1 Archive size is within budget", archiveBounded},
		{"6.2 SQLite has been vacuumed / WAL-checkpointed", vacuumed},
		{"6.3 Embedding store is bounded", vectorsBounded},
	}},
	{"7. Safety & privacy", []box{
		{"7.1 No raw memory body or embedding blob appears in logs", logsClean},
		{"7.2 No secrets, tokens, or PII landed in long-term rows", noSecrets},
		{"7.3 Sensitive rows have explicit access tags", sensitiveTagged},
	}},
	{"8. Ownership & meta", []box{
		{"8.1 Every long-term category has a named owner", owned},
		{"8.2 The groom job itself ran end-to-end", groomRan},
		{"8.3 Budgets in meta match the budgets in code", budgetsMatch},
	}},
}

// Audit goes through the checklist for a caller: rows of namespaces that it does
// not see are left out. What cannot be read fails the boxes that depend on it.
func (a *Auditor) Audit(ctx context.Context, caller memd.Caller, opts AuditOptions) (Audit, error) {
	if !caller.Role.Includes(memd.RoleAdmin) {
		return Audit{}, memd.Errorf(memd.CodeForbidden, "this needs the role %s", memd.RoleAdmin)
	}
	if opts.Sample < 0 || opts.Sample > MaxSample {
		return Audit{}, memd.FieldErrorf(memd.CodeInvalidRequest, "sample", "sample must be 0 to %d", MaxSample)
	}
	e := a.gather(ctx, caller)
	defer e.close()
	out := Audit{Boxes: []Box{}, Sample: e.sample(opts.Sample)}
	for _, section := range checklist {
		for _, b := range section.boxes {
			found := b.decide(e)
			if ctx.Err() != nil {
				return Audit{}, ctx.Err()
			}
			box := found.box()
			box.Section, box.Box = section.section, b.says
			switch box.Verdict {
			case VerdictPass:
				out.Passed++
				out.Applicable++
			case VerdictFail:
				out.Applicable++
			}
			out.Boxes = append(out.Boxes, box)
		}
	}
	return out, nil
}
