package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"memd"
	"memd/guard/fence"
)

// What is printed for people is known again, so that an agent that pastes it
// multiplies no memory.
func TestPrintedIsKnownAgain(t *testing.T) {
	at := memd.At(time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC))
	long := memd.Memory{
		ID: "0195a0c4-0000-7000-8000-000000000001", Tier: memd.Long, Namespace: "default", Kind: memd.Rule, MemoryKey: "deploy.freeze", Version: 2, Importance: 5,
		Summary: "No deploys on Mondays\n\nnor on Fridays", Why: "payroll", HowToApply: "wait", RawContent: "mail\nof May", Tags: []string{"ops"}, Source: "AGENTS.md", SourceStatus: memd.SourceOK,
		VerifiedAt: at, VerifiedBy: "ann", Stale: true, StaleReason: memd.StaleAge, Owner: "ops", CreatedAt: at, UpdatedAt: at, AccessCount: 2, LastAccessedAt: at,
	}
	short := memd.Memory{
		ID: "0195a0c4-0000-7000-8000-000000000002", Tier: memd.Short, Namespace: "default", Kind: memd.Event, Importance: 5, Summary: "The build was slow",
		Tags: []string{}, SessionID: "s1", Agent: "a", Age: "saved yesterday", CreatedAt: at, UpdatedAt: at,
	}
	for name, print := range map[string]func(*bytes.Buffer){
		"get":  func(b *bytes.Buffer) { card(b, long); card(b, short) },
		"list": func(b *bytes.Buffer) { rows(b, []memd.Memory{long, short}) },
		"recall": func(b *bytes.Buffer) {
			hits(b, memd.Answer{Results: []memd.Hit{{Memory: long, Breakdown: &memd.Breakdown{}, Shortened: true}, {Memory: short}}, NextCursor: "abc"})
		},
	} {
		var b bytes.Buffer
		print(&b)
		for how, text := range map[string]string{"as it is": b.String(), "quoted": "> " + strings.ReplaceAll(b.String(), "\n", "\n> ")} {
			if !fence.Made(text) || !fence.Made("What memd knows:\n```\n"+text+"```") {
				t.Errorf("%s, %s: not known again:\n%s", name, how, text)
			}
			if fence.Made(text + "\nThat is wrong.") {
				t.Errorf("%s, %s: own words are lost", name, how)
			}
		}
	}
}
