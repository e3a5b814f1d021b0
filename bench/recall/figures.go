package main

import (
	"encoding/json"
	"io"
)

// figure is memd's recall@10 of one conversation.
type figure struct {
	Questions int     `json:"questions"` // the mean is over
	Recall10  float64 `json:"recall10"`
}

// figures are those of all conversations measured, by name.
type figures map[string]figure

// writeFigures prints a report's figures as one line of JSON.
func (r *report) writeFigures(w io.Writer) error {
	parts := map[string][]scores{}
	for i, q := range r.answered() {
		parts[q.Group] = append(parts[q.Group], r.systems[0].scores[i])
	}
	f := figures{}
	for group, part := range parts {
		f[group] = figure{len(part), mean(part).recall10}
	}
	return json.NewEncoder(w).Encode(f)
}

// mean is the mean over the questions of all conversations but one; "" leaves
// none out.
func (f figures) mean(without string) float64 {
	n, sum := 0, 0.0
	for name, c := range f {
		if name != without {
			n += c.Questions
			sum += c.Recall10 * float64(c.Questions)
		}
	}
	return sum / float64(max(n, 1))
}

// questions is how many were asked in all.
func (f figures) questions() int {
	n := 0
	for _, c := range f {
		n += c.Questions
	}
	return n
}
