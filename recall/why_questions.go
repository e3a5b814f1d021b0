package recall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memd"
	"memd/guard/fence"
	"memd/guard/sources"
	"memd/tiers"
)

// noRow is the answer to a question about a row that is not there.
func (w *inquiry) noRow() (string, []string) {
	if w.reason == memd.WhyUnavailable {
		return "unknown: " + w.detail, nil
	}
	return "no: there is no such row", []string{w.detail}
}

// inArtefact answers question 1.
func (w *inquiry) inArtefact() (string, []string) {
	m := w.m
	switch {
	case m == nil:
		return w.noRow()
	case m.Source == "":
		return "no: it names no source", nil
	case m.Source == "user", strings.HasPrefix(m.Source, "session:"):
		return "no: its source is a person or a session", []string{"source " + oneLine(m.Source)}
	}
	evidence := []string{"source " + oneLine(m.Source), "stored status " + string(m.SourceStatus)}
	evidence = append(evidence, w.lookedAt()...)
	if w.unsure != "" {
		evidence = append(evidence, w.unsure)
	}
	switch w.source {
	case memd.SourceOK:
		return "yes: its source stands", evidence
	case memd.SourceMissing:
		return "no: its source is not there", evidence
	case memd.SourceChanged:
		return "unknown: its source stands, and says something else than when it was verified", evidence
	}
	return "unknown: nobody could look at its source", evidence
}

// examine looks at the source of the row, once for all questions, and as groom
// does: beside the hash that was kept when it was last verified.
func (w *inquiry) examine() {
	if w.m == nil {
		return
	}
	w.source = w.m.SourceStatus
	if w.engine.sources == nil {
		return
	}
	kept := ""
	if w.head.ID == w.m.ID {
		kept = w.head.SourceHash
	}
	found := w.engine.sources.File(w.m.Namespace, w.m.Source)
	w.source, w.unsure = found.After(w.m.SourceStatus, kept), found.Why
	w.looked = found.Status != memd.SourceUnchecked || found.Reach == sources.There
}

// lookedAt is the evidence of the look, none where it told nothing.
func (w *inquiry) lookedAt() []string {
	if !w.looked {
		return nil
	}
	return []string{"looked at now: " + string(w.source)}
}

// keyed answers question 2.
func (w *inquiry) keyed() (string, []string) {
	m := w.m
	if m == nil {
		return w.noRow()
	}
	evidence := []string{"id " + m.ID, "tier " + string(m.Tier), "namespace " + m.Namespace, "kind " + string(m.Kind), "created " + date(m.CreatedAt)}
	if m.MemoryKey != "" {
		evidence = append(evidence, "key "+m.MemoryKey, fmt.Sprintf("version %d of %d, %d of them kept", m.Version, w.head.Version, w.versions))
	}
	switch {
	case m.MemoryKey == "":
		return fmt.Sprintf("no: it stands in the %s tier, without a key", m.Tier), evidence
	case w.superseded():
		return "no: it is a version of its key that is no longer current", evidence
	case m.Tier == memd.Archive:
		return "no: it stands in the archive, and has kept its key", evidence
	}
	return "yes: it is the current version of its key", evidence
}

// labelled answers question 3.
func (w *inquiry) labelled() (string, []string) {
	m := w.m
	if m == nil {
		return w.noRow()
	}
	evidence := []string{fmt.Sprintf("importance %d", m.Importance)}
	var missing []string
	for _, label := range []struct{ name, value string }{
		{"source", oneLine(m.Source)}, {"verified date", m.VerifiedAt.String()}, {"tags", oneLine(strings.Join(m.Tags, ", "))},
	} {
		if label.value == "" {
			missing = append(missing, label.name)
			continue
		}
		evidence = append(evidence, label.name+" "+label.value)
	}
	if m.VerifiedBy != "" {
		evidence = append(evidence, "verified by "+oneLine(m.VerifiedBy))
	}
	if len(missing) > 0 {
		return "no: it has no " + strings.Join(missing, ", no "), evidence
	}
	return "yes: it has all of them", evidence
}

const notAsked = "unknown: no query was given"

// recalled answers question 4.
func (w *inquiry) recalled() (string, []string) {
	switch {
	case !w.asked():
		return notAsked, nil
	case w.m == nil:
		return w.noRow()
	}
	var evidence []string
	if s := cmp.Or(w.row(), w.own); s != nil {
		evidence = append(evidence, "matched "+joined(s.matched))
		if s.over {
			evidence = append(evidence, "over the match floor")
		} else {
			evidence = append(evidence, "under the match floor")
		}
	}
	evidence = append(evidence, "/context: "+w.context)
	if len(w.degrade) > 0 {
		evidence = append(evidence, "without "+strings.Join(w.degrade, ", "))
	}
	switch w.reason {
	case memd.WhyReturned:
		return "yes: " + w.detail, evidence
	case memd.WhyUnavailable:
		return "unknown: " + w.detail, evidence
	}
	return "no: " + w.detail, evidence
}

// maxAhead is how many rows are named that stand before the one asked about.
const maxAhead = 10

// outranked answers question 5.
func (w *inquiry) outranked() (string, []string) {
	s := w.row()
	switch {
	case !w.asked():
		return notAsked, nil
	case w.m == nil:
		return w.noRow()
	case s == nil && w.reason == memd.WhyOutranked:
		return w.outrankedUnread()
	case s == nil && w.reason == memd.WhyUnavailable:
		return "unknown: " + w.detail, nil
	case s == nil:
		return "no: it is not in the order at all", []string{w.detail}
	}
	evidence := append([]string{scoreOf(s)}, w.ahead(s, w.place)...)
	switch w.place {
	case 0:
		return "no: nothing stands before it", evidence
	case 1:
		return "yes: 1 row stands before it", evidence
	}
	return fmt.Sprintf("yes: %d rows stand before it", w.place), evidence
}

// outrankedUnread is outranked for a row that was not read, since too many of its
// tier promised more. Its score is that of its own terms: what rows beside it would
// lend it is not known.
func (w *inquiry) outrankedUnread() (string, []string) {
	rows := w.ranking.rows
	n, _ := slices.BinarySearchFunc(rows, w.own, order)
	evidence := append([]string{scoreOf(w.own), "its place is beyond the rows read"}, w.ahead(w.own, n)...)
	if n == 0 {
		return "unknown: none of the rows read stands before it by its own terms", evidence
	}
	return fmt.Sprintf("yes: %d of the rows read stand before it by its own terms", n), evidence
}

func scoreOf(s *scored) string {
	return fmt.Sprintf("its score %.4f = %s", s.score, wordsOf(partsOf(s.parts)))
}

// ahead names the first rows of the order, of the n that stand before s, with what
// each term of their scores is more than that of s.
func (w *inquiry) ahead(s *scored, n int) (lines []string) {
	for i, ahead := range w.ranking.rows[:min(n, maxAhead)] {
		line := fmt.Sprintf("place %d: %s, score %.4f: ", i+1, nameOf(&ahead.memory), ahead.score)
		if more := wordsOf(difference(ahead.parts, s.parts)); more != "" {
			line += more
		} else {
			line += "equal terms, and the newer or, of one time, the lower id"
		}
		lines = append(lines, line)
	}
	return lines
}

// stale answers question 6.
func (w *inquiry) stale() (string, []string) {
	m := w.m
	switch {
	case m == nil:
		return w.noRow()
	case m.Tier != memd.Long:
		return "no: only long-term rows go stale", []string{"tier " + string(m.Tier)}
	}
	fresh := w.engine.store.Budgets().FreshFor(m.Kind)
	evidence := []string{
		"verified " + m.VerifiedAt.String(), fmt.Sprintf("kind %s stays fresh for %d days", m.Kind, int(fresh.Hours()/24)),
		"source status " + string(m.SourceStatus),
	}
	evidence = append(evidence, w.lookedAt()...)
	if w.groomed == "" {
		evidence = append(evidence, "no whole groom has ended yet")
	} else {
		evidence = append(evidence, "last groom "+w.groomed)
	}
	switch {
	case m.Stale:
		return fmt.Sprintf("yes: groom has marked it (%s)", m.StaleReason), evidence
	case w.source == memd.SourceMissing:
		return "yes: its source is missing, and groom has not marked it yet", evidence
	case w.source == memd.SourceChanged:
		return "yes: its source says something else, and groom has not marked it yet", evidence
	case w.staleByAge:
		return "yes: by its age, and groom has not marked it yet", evidence
	}
	return "no: it is fresh, and no mark stands", evidence
}

// guarded answers question 7.
func (w *inquiry) guarded() (string, []string) {
	if w.m == nil {
		if w.reason == memd.WhyUnavailable {
			return w.noRow()
		}
		return "no: there is nothing to refuse", nil
	}
	evidence := []string{}
	var refusing []string
	for _, g := range w.guards() {
		verdict := "lets it pass"
		switch {
		case g.Wrong != "":
			verdict = "refuses it: " + g.Wrong
			refusing = append(refusing, g.Name)
		case g.Else != "":
			verdict = g.Else
		}
		evidence = append(evidence, g.Name+" "+verdict)
	}
	if w.engine.guards == nil {
		evidence = append(evidence, "secret_detected, personal_data and not_durable_fact were not asked: nothing looks at texts")
	}
	if len(refusing) > 0 {
		return "yes: " + strings.Join(refusing, ", ") + " would refuse it today", evidence
	}
	return "no: each guard would let it pass today; forget it, write a new version, or note the harm as a pitfall", evidence
}

// guards are what every check at the door says of the row.
func (w *inquiry) guards() []tiers.Guard {
	if w.engine.guards == nil {
		return tiers.Guards(w.m, w.engine.store.Budgets())
	}
	return w.engine.guards(w.m)
}

// row is the row in the order, nil where it is not.
func (w *inquiry) row() *scored {
	if w.place < 0 {
		return nil
	}
	return w.ranking.rows[w.place]
}

// oneLine is stored text within a line of evidence, with its links as they are.
func oneLine(text string) string { return fence.Rules{KeepLinks: true}.Line(text) }
