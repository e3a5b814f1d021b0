package groom

import (
	"strings"
	"testing"
)

// A text is found wherever in a record it stands, and nothing shorter or other is.
func TestStarts(t *testing.T) {
	wanted := starts{}
	wanted.add("a sentence of more than twenty bytes")
	wanted.add("a sentence of more than thirty bytes")
	wanted.add("这是一个超过二十个字节的句子")
	for _, text := range []string{
		"a sentence of more than twenty bytes", "x: a sentence of more than thirty bytes!", `{"a":"这是一个超过二十个字节的句子"}`,
		strings.Repeat("a sentence of more than ", 3) + "twenty bytes",
	} {
		if !wanted.in(text) {
			t.Errorf("not found in %q", text)
		}
	}
	for _, text := range []string{"", "a sentence of more than", "a sentence of more than forty bytes", "A sentence of more than twenty bytes", "这是一个超过二十个字节"} {
		if wanted.in(text) {
			t.Errorf("found in %q", text)
		}
	}
}
