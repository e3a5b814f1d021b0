package notes_test

import (
	"io"
	"strings"
	"testing"

	"memd"
	"memd/exchange/notes"
)

var sample = notes.FromMemory(memd.Memory{
	Namespace: "user", Kind: memd.Feedback, MemoryKey: "meeting-style", Version: 3, Summary: "Minutes go out within 24 hours", RawContent: strings.Repeat("Minutes go out within 24 hours. ", 30),
	Why: "forgotten on Monday", HowToApply: "right after the meeting", Importance: 7, Tags: []string{"meetings", "minutes"}, Source: "notes/meeting-style.md", ContentHash: "sha256:00",
}, nil)

func BenchmarkParse(b *testing.B) {
	text := render(b, sample)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := notes.Parse(strings.NewReader(text), "a.md"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for b.Loop() {
		if err := sample.Render(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
