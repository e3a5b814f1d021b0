package main

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestLeaveOneOut(t *testing.T) {
	some, other := setting{"lendNext", 0.5}, setting{"lendNext", 2}
	trials := []trial{
		{setting{}, figures{"a": {10, 0.5}, "b": {10, 0.5}, "c": {30, 0.5}}},
		{some, figures{"a": {10, 0.9}, "b": {10, 0.4}, "c": {30, 0.5}}},
		{other, figures{"a": {10, 0.1}, "b": {10, 0.7}, "c": {30, 0.5}}},
	}
	want := []left{
		{"a", 10, other, 0.1, 0.5}, // without a: 0.5, 0.475, 0.55
		{"b", 10, some, 0.4, 0.5},  // without b: 0.5, 0.6, 0.4
		{"c", 30, some, 0.5, 0.5},  // without c: 0.5, 0.65, 0.4
	}
	if got := leaveOneOut(trials); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := best(trials, "").setting; got != some {
		t.Errorf("best over all is %v, want %v", got, some)
	}
	// Conversations weigh by their questions, and what is in force wins ties.
	even := []trial{
		{setting{}, figures{"a": {10, 0.5}, "b": {30, 0.5}}},
		{some, figures{"a": {10, 0.8}, "b": {30, 0.4}}},
	}
	if got := best(even, "").setting; got != (setting{}) {
		t.Errorf("a tie goes to %v", got)
	}
}

// fixed answers for LoCoMo and one other set.
type fixed map[setting]figures

func (f fixed) measure(_ context.Context, s setting, set string, _ int) (figures, error) {
	switch set {
	case "locomo":
		return f[s], nil
	case "cmrc2018_zh":
		return figures{"all": {4, 0.25 + s.factor/4}}, nil
	default:
		return nil, fs.ErrNotExist
	}
}

func TestTune(t *testing.T) {
	good := setting{"lendNext", 2}
	f := fixed{
		{}:              {"a": {10, 0.5}, "b": {30, 0.5}},
		good:            {"a": {10, 0.6}, "b": {30, 0.4}},
		{"lendNext", 3}: {"a": {10, 0.7}, "b": {30, 0.7}},
	}
	var out strings.Builder
	if err := tune(t.Context(), &out, f, []setting{good, {"lendNext", 3}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"in force: recall@10 0.5000 over all conversations",
		"lendNext x 2: recall@10 0.4500 over all conversations",
		"| a | 10 | lendNext x 3 | 0.7000 | 0.5000 |",
		"| mean | 40 |  | 0.7000 | 0.5000 |",
		"| cmrc2018_zh | 4 | 1.0000 | 0.2500 |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

// A setting that is no other needs no look at the other sets.
func TestUnseenInForce(t *testing.T) {
	var out strings.Builder
	if err := unseen(t.Context(), &out, fixed{}, setting{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); got != "Best over all conversations: in force." {
		t.Errorf("the report is %q", got)
	}
}

func TestTuneWithoutData(t *testing.T) {
	v := &variants{data: t.TempDir()}
	var out strings.Builder
	if err := tune(t.Context(), &out, v, grid()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "nothing was tuned") {
		t.Errorf("the report is %q", out.String())
	}
}

// Every constant of the grid stands in the order as the variants expect it.
func TestGridIsInTheOrder(t *testing.T) {
	source, err := os.ReadFile("../../recall/order.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range grid() {
		other, err := s.apply(source)
		if err != nil {
			t.Error(err)
		} else if string(other) == string(source) {
			t.Errorf("%s changes nothing", s)
		}
	}
}

func TestApply(t *testing.T) {
	const source = "const (\n\tlend     = 0.4 // lend = 1\n\tlendMore = 2\n\tbad = 1.2.3\n\ttwice = 1\n\ttwice = 1\n)\n"
	for _, c := range []struct {
		setting setting
		want    string // "" for an error
	}{
		{setting{}, source},
		{setting{"lend", 0.5}, strings.Replace(source, "0.4", "0.2", 1)},
		{setting{"lendMore", 1.5}, strings.Replace(source, "= 2", "= 3", 1)},
		{setting{"absent", 2}, ""},
		{setting{"twice", 2}, ""},
		{setting{"bad", 2}, ""},
	} {
		got, err := c.setting.apply([]byte(source))
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %q, %v", c.setting, got, err)
		}
	}
}
