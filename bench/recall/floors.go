package main

import (
	"errors"
	"fmt"
)

// maxLoss is how much of recall@5 and recall@10 a static model may cost a set.
const maxLoss = 0.003

// floor is the least that memd's keyword recall must reach on a set.
type floor struct {
	set, metric string
	whole       float64 // over the whole set
	quick       float64 // over the share that -quick measures
}

// floors lie 0.005 under what was reached. Where it rises, they rise with it.
func floors() []floor {
	return []floor{
		{"locomo", "recall@5", 0.644, 0.624},
		{"locomo", "recall@10", 0.731, 0.693},
		{"memdaily_zh", "recall@5", 0.860, 0.887},
		{"memdaily_zh", "recall@10", 0.966, 0.970},
		{"cmrc2018_zh", "recall@1", 0.968, 0.895},
		{"bakeoff_stress500", "recall@5", 0.870, 0.870},
	}
}

// quickShare is what -quick measures of a set: less than a minute for all.
func quickShare(set string) share {
	switch set {
	case "locomo":
		return share{3, 1} // two conversations
	case "memdaily_zh":
		return share{10, 1} // 100 groups of one question
	case "cmrc2018_zh":
		return share{1, 30} // 40 questions over all rows
	default:
		return share{1, 1}
	}
}

// least is the floor for a measurement of the whole set or of its share.
func (f floor) least(quick bool) float64 {
	if quick {
		return f.quick
	}
	return f.whole
}

// check returns an error for each figure of r that is too low, joined.
func check(r *report, table []floor, quick bool) error {
	var low []error
	keyword, _ := r.of(keywordName)
	static, withStatic := r.of(staticName)
	for _, m := range metrics() {
		for _, f := range table {
			if got := m.of(keyword); f.set == r.title && f.metric == m.name && got < f.least(quick) {
				low = append(low, fmt.Errorf("%s: %s is %.3f, under its floor of %.3f", f.set, f.metric, got, f.least(quick)))
			}
		}
		loss := m.of(keyword) - m.of(static)
		if withStatic && (m.name == "recall@5" || m.name == "recall@10") && loss > maxLoss {
			low = append(low, fmt.Errorf("%s: %s is %.3f with the static model, under its floor of %.3f (%.3f without, less %.3f)",
				r.title, m.name, m.of(static), m.of(keyword)-maxLoss, m.of(keyword), maxLoss))
		}
	}
	if s := r.superseded; s != nil && s.staleFirst > 0 {
		low = append(low, fmt.Errorf("%s: %d superseded facts stand first, over the bound of 0", r.title, s.staleFirst))
	}
	return errors.Join(low...)
}
