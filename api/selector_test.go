package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"memd"
)

// picking is a selector that chooses the last line, or fails.
type picking struct{ err error }

func (p *picking) Select(_ context.Context, _ string, _, lines []string) ([]int, error) {
	return []int{len(lines) - 1}, p.err
}

// What the selector chose shows in the breakdown, and its failures in the answer
// and in the metrics.
func TestSelectorOverHTTP(t *testing.T) {
	p := &picking{}
	d := start(t, func(o *Options) { o.Recall.WithSelector(p) }, nil)
	d.short("gateway gateway gateway")
	m := d.short("a gateway among many other words that say nothing of it")
	const recall = `{"query":"gateway","tools":["git"],"explain":true}`
	var a memd.Answer
	d.post("/v1/recall", recall).want(http.StatusOK).into(&a)
	if len(a.Results) != 2 || a.Results[0].ID != m.ID || a.Results[0].Breakdown.Selected <= 0 || a.Results[1].Breakdown.Selected != 0 {
		t.Errorf("%+v", a)
	}
	p.err = errors.New("down")
	d.post("/v1/recall", recall).want(http.StatusOK).into(&a)
	if a.Results[1].ID != m.ID || !slices.Equal(a.Degraded, []string{memd.DegradedSelector}) {
		t.Errorf("%+v", a)
	}
	var c memd.Context
	d.post("/v1/context", `{"query":"gateway","tools":["git"]}`).want(http.StatusOK).into(&c)
	if len(c.Included) != 2 || !slices.Equal(c.Degraded, []string{memd.DegradedSelector}) {
		t.Errorf("%+v", c)
	}
	d.post("/v1/recall", `{"query":"gateway","tools":[""]}`).refused(http.StatusBadRequest, memd.CodeInvalidRequest, "tools")
	text := string(d.get("/metrics").want(http.StatusOK).Body)
	for _, line := range []string{
		`memd_selector_total{outcome="answered"} 1`, `memd_selector_total{outcome="failed"} 2`,
		`memd_recall_total{outcome="hit"} 1`, `memd_recall_total{outcome="degraded"} 1`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("metrics lack %s", line)
		}
	}
}
