package main

import (
	"fmt"
	"io"
	"strings"

	"memd"
)

// card shows one memory in full.
func card(w io.Writer, m memd.Memory) {
	fmt.Fprintf(w, "%s%s\n", title(m), staleMark(m))
	var fields [][]string
	for _, row := range [][2]string{
		{"id", m.ID},
		{"tier", string(m.Tier)},
		{"namespace", m.Namespace},
		{"kind", string(m.Kind)},
		{"version", positive(m.Version)},
		{"importance", fmt.Sprint(m.Importance)},
		{"tags", strings.Join(m.Tags, ", ")},
		{"source", sourceText(m)},
		{"verified", verifiedText(m)},
		{"owner", m.Owner},
		{"access", strings.Join(m.Access, ", ")},
		{"session", m.SessionID},
		{"agent", m.Agent},
		{"age", age(m)},
		{"created", m.CreatedAt.String()},
		{"updated", m.UpdatedAt.String()},
		{"accessed", accessText(m)},
		{"expires", m.ExpiresAt.String()},
		{"resolved", m.ResolvedAt.String()},
	} {
		if row[1] != "" {
			fields = append(fields, []string{row[0], row[1]})
		}
	}
	table(w, fields...)
	for _, part := range [][2]string{
		{"summary", m.Summary}, {"why", m.Why}, {"how to apply", m.HowToApply}, {"raw content", m.RawContent},
	} {
		if part[1] != "" {
			fmt.Fprintf(w, "\n%s\n", part[0])
			indent(w, "  ", part[1], 0)
		}
	}
}

// title is what a person calls a memory: its key, else its id.
func title(m memd.Memory) string {
	if m.MemoryKey != "" {
		return m.MemoryKey
	}
	return m.ID
}

func staleMark(m memd.Memory) string {
	if !m.Stale {
		return ""
	}
	return fmt.Sprintf("  STALE (%s)", m.StaleReason)
}

// age words the age of a memory, which the wire leaves empty on the day.
func age(m memd.Memory) string {
	if m.Age == "" {
		return "today"
	}
	return strings.TrimPrefix(m.Age, "This memory is ")
}

func positive(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprint(n)
}

func sourceText(m memd.Memory) string {
	if m.Source == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", m.Source, m.SourceStatus)
}

func verifiedText(m memd.Memory) string {
	if m.VerifiedAt.IsZero() || m.VerifiedBy == "" {
		return m.VerifiedAt.String()
	}
	return fmt.Sprintf("%s by %s", m.VerifiedAt, m.VerifiedBy)
}

func accessText(m memd.Memory) string {
	if m.AccessCount == 0 {
		return m.LastAccessedAt.String()
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%d times)", m.LastAccessedAt, m.AccessCount))
}

// written says in a line or two what a write did.
func written(verb string) func(io.Writer, memd.Written) {
	return func(w io.Writer, m memd.Written) {
		switch {
		case m.ID == "":
			verb = "nothing written"
		case m.Deduplicated:
			verb = "already known, refreshed"
		case m.Unchanged:
			verb = "unchanged, verified again"
		case m.DuplicateOf != "":
			verb = "already known"
		}
		fmt.Fprint(w, verb)
		if m.ID != "" {
			fmt.Fprintf(w, ": %s %s", m.Tier, m.ID)
		}
		if m.MemoryKey != "" {
			fmt.Fprintf(w, " %s, version %d", m.MemoryKey, m.Version)
		}
		if m.Namespace != "" {
			fmt.Fprintf(w, " in %s", m.Namespace)
		}
		fmt.Fprintln(w)
		if m.DuplicateOf != "" {
			fmt.Fprintf(w, "  the same stands in %s\n", m.DuplicateOf)
		}
		for _, warning := range m.Warnings {
			fmt.Fprintf(w, "  warning: %s\n", warning)
		}
	}
}
