package groom

import (
	"context"
	"slices"

	"memd"
)

// contradictionFinder finds statements of which one commands what the other
// forbids.
type contradictionFinder struct {
	compared int // pairs whose words were looked at
}

// stance is what a statement commands and what it forbids: numbers of content words,
// sorted, that stand plainly in the one and denied in the other.
type stance struct{ commands, forbids []int }

// topic is what two statements about the same have in common: a stem of their keys,
// or a tag.
type topic struct{ namespace, stem, tag string }

// find returns the ids of practices and rules that contradict each other, in pairs,
// the practice first. Only those about the same are compared. It fails only at the
// end of ctx.
func (f *contradictionFinder) find(ctx context.Context, practices, rules []head) (ids []string, err error) {
	stances, err := stancesOf(ctx, slices.Concat(practices, rules))
	if err != nil {
		return nil, err
	}
	said, ruled := stances[:len(practices)], stances[len(practices):]
	about := map[topic][]int{} // rules, by their places
	for j := range rules {
		if !ruled[j].none() {
			for _, t := range topicsOf(rules[j]) {
				about[t] = append(about[t], j)
			}
		}
	}
	for i, p := range practices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if said[i].none() {
			continue
		}
		var met []int
		for _, t := range topicsOf(p) {
			met = append(met, about[t]...)
		}
		slices.Sort(met)
		for _, j := range slices.Compact(met) {
			f.compared++
			if said[i].contradicts(ruled[j]) {
				ids = append(ids, p.ID, rules[j].ID)
			}
		}
	}
	return ids, nil
}

// stancesOf takes statements apart.
func stancesOf(ctx context.Context, heads []head) ([]stance, error) {
	lex := newLexicon()
	read := make([]wording, len(heads))
	for i, h := range heads {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		read[i] = lex.read(h.Summary)
	}
	all := make([]stance, len(heads))
	for i, w := range read { // once the opposites of all words are known
		all[i] = lex.stance(w)
	}
	return all, nil
}

// stance is that of a statement. A word that no other statement has the opposite of
// is left out.
func (l *lexicon) stance(w wording) (s stance) {
	for _, word := range w.words {
		switch other := l.opposite[word]; {
		case other < 0:
		case l.denied[word] && w.never:
			s.forbids = append(s.forbids, other)
		case !l.denied[word] && w.must:
			s.commands = append(s.commands, word)
		}
	}
	slices.Sort(s.forbids)
	return s
}

func (s stance) none() bool { return len(s.commands) == 0 && len(s.forbids) == 0 }

// contradicts reports whether one commands what the other forbids.
func (s stance) contradicts(other stance) bool {
	return meet(s.commands, other.forbids) || meet(other.commands, s.forbids)
}

// meet reports whether two sorted lists have a number in common.
func meet(a, b []int) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case b[0] < a[0]:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// topicsOf are what a row is about: the stem of its key, and its tags but for names of
// kinds.
func topicsOf(h head) []topic {
	var all []topic
	if stem := keyStem(h.MemoryKey); stem != "" {
		all = append(all, topic{h.Namespace, stem, ""})
	}
	for _, tag := range h.Tags {
		if !memd.Kind(tag).Valid() {
			all = append(all, topic{h.Namespace, "", tag})
		}
	}
	return all
}
