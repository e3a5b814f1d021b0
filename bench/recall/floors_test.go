package main

import (
	"strings"
	"testing"
)

// measured is a report of one question.
func measured(title string, keyword, static scores) *report {
	return &report{title: title, systems: []system{
		{name: keywordName, scores: []scores{keyword}}, {name: staticName, scores: []scores{static}},
	}}
}

func TestCheck(t *testing.T) {
	table := []floor{{"tiny", "recall@5", 0.6, 0.4}, {"tiny", "MRR@10", 0.3, 0.3}, {"other", "recall@1", 1, 1}}
	good := scores{recall1: 0.2, recall5: 0.6, recall10: 0.7, mrr: 0.3}
	for _, c := range []struct {
		name            string
		keyword, static scores
		quick           bool
		stale           int
		want            []string // in the error, each on a line of its own
	}{
		{name: "on the floor", keyword: good, static: good},
		{name: "a static model that gains", keyword: good, static: scores{recall5: 0.8, recall10: 0.8}},
		{name: "a static model that costs little", keyword: good, static: scores{recall5: 0.598, recall10: 0.698}},
		{name: "a static model that costs", keyword: good, static: scores{recall5: 0.596, recall10: 0.69},
			want: []string{"tiny: recall@5 is 0.596 with the static model, under its floor of 0.597", "tiny: recall@10 is 0.690 with"}},
		{name: "under the floor", keyword: scores{recall5: 0.59, mrr: 0.3}, static: good,
			want: []string{"tiny: recall@5 is 0.590, under its floor of 0.600"}},
		{name: "under both", keyword: scores{}, static: good,
			want: []string{"tiny: recall@5 is 0.000", "tiny: MRR@10 is 0.000, under its floor of 0.300"}},
		{name: "over the floor of the share", keyword: scores{recall5: 0.59, mrr: 0.3}, static: good, quick: true},
		{name: "a superseded fact first", keyword: good, static: good, stale: 1, want: []string{"tiny: 1 superseded facts stand first"}},
	} {
		r := measured("tiny", c.keyword, c.static)
		r.superseded = &superseded{questions: 2, staleFirst: c.stale}
		err := check(r, table, c.quick)
		if err == nil {
			if len(c.want) > 0 {
				t.Errorf("%s: passes, want %q", c.name, c.want)
			}
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, lines, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s: %q, want %q", c.name, lines[i], want)
			}
		}
	}
}

// Without a static model nothing is compared with it.
func TestCheckKeywordAlone(t *testing.T) {
	r := measured("tiny", scores{recall5: 0.6}, scores{})
	r.systems = r.systems[:1]
	if err := check(r, nil, false); err != nil {
		t.Error(err)
	}
}

// A floor of a set or metric that is not measured would hold nothing.
func TestFloorsNameWhatIsMeasured(t *testing.T) {
	for _, f := range floors() {
		known := false
		for _, m := range metrics() {
			known = known || m.name == f.metric
		}
		inSets := false
		for _, set := range (options{set: "all"}).sets() {
			inSets = inSets || set == f.set
		}
		if !known || !inSets || f.whole <= 0 || f.quick <= 0 || f.whole >= 1 || f.quick >= 1 {
			t.Errorf("floor %+v", f)
		}
	}
}
