package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"memd"
)

// Profiles say which tools a client is shown.
const (
	ProfileFull = "full"
	ProfileCore = "core"
)

// answer is what a tool answers: REST's answer, and a text that reads well.
type answer struct {
	structured json.RawMessage
	text       string
}

// tool is one row of the table of tools.
type tool struct {
	name, title, doc string
	core             bool
	readOnly         bool
	destructive      bool
	idempotent       bool
	in, out          *jsonschema.Schema
	offer            *sdk.Tool // as clients see it
	run              func(ctx context.Context, s *Server, in json.RawMessage, room int) (answer, error)
}

// calling makes the run of a tool whose arguments are decoded into an I.
func calling[I any](in *jsonschema.Schema, run func(context.Context, *Server, I, int) (answer, error)) func(context.Context, *Server, json.RawMessage, int) (answer, error) {
	return func(ctx context.Context, s *Server, raw json.RawMessage, room int) (answer, error) {
		var args I
		if err := arguments(raw, in, &args); err != nil {
			return answer{}, err
		}
		return run(ctx, s, args, room)
	}
}

// definition is the tool as clients see it. Its schemas are encoded, which their
// library would do with every tools/list and takes most of its time for.
func (t *tool) definition() *sdk.Tool {
	closedWorld := false
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.doc, InputSchema: encode(t.in), OutputSchema: encode(t.out),
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: t.readOnly, DestructiveHint: &t.destructive, IdempotentHint: t.idempotent, OpenWorldHint: &closedWorld,
		},
	}
}

// toolsOf are the tools of a profile. They are those of every session, and stay as
// they are.
func toolsOf(profile string) []*tool {
	all := slices.Clone(allTools())
	if profile == ProfileCore {
		all = slices.DeleteFunc(all, func(t *tool) bool { return !t.core })
	}
	return all
}

var allTools = sync.OnceValue(func() []*tool {
	all := []*tool{rememberTool(), rememberLongTermTool(), noteTool(), recallTool(), contextTool(), getTool(), listTool(), forgetTool(), verifyTool(), whyTool()}
	for _, t := range all {
		t.offer = t.definition()
	}
	return all
})

// Arguments that several tools share.
func namespaceField() field {
	return text("namespace", `Where it belongs: "user" for what holds for the person everywhere, project/<id>, agent/<name>. Default: this agent's, else this project's.`)
}

func namespacesField() field {
	return listOf("namespaces", "Where to look; of equal keys the first named wins. Default: this agent, this project, user, default.", 16, anyWord)
}

func accessField() field {
	return listOf("access", "Show also memories restricted to these access tags.", memd.MaxTags, anyWord)
}

func tagsOfIt() field {
	return listOf("access", "Its access tags, where it is restricted.", memd.MaxTags, anyWord)
}

func maxCharsField() field {
	return number("max_chars", "Most characters of the answer.", minChars, maxChars, defaultChars)
}

func sessionField() field { return text("session_id", "Default: this session.") }

func tagsField() field {
	return listOf("tags", "Short labels.", memd.MaxTags, anyWord)
}

func importanceField() field {
	return number("importance", "10: must never be missed.", 1, 10, memd.DefaultImportance)
}

func sourceText(name string) field {
	return text(name, `What it rests on: path[#anchor][:line], a URL, or for preference, user and feedback "user".`)
}

const whatToSave = "Save confirmations as well as corrections: an approach the person approved is worth as much as a mistake to avoid. " +
	"Do not save what the code, git or a document already tells (structure, diffs, stack traces, one-off commands), nor secrets. "

func rememberTool() *tool {
	in := closed(
		text("summary", "One fact in words that stand alone: names, numbers, absolute dates.").must(),
		text("raw_content", "The wording in full, where the summary is not enough."),
		oneOf("kind", "Default event.", memd.AllKinds()), importanceField(), tagsField(), sourceText("source"), namespaceField(),
		moment("expires_at", "From when it is gone."), sessionField(),
	)
	return &tool{
		name: "remember", title: "Remember for weeks", core: true, idempotent: true,
		doc: "Save what a later session will want to know: what was decided, found out, agreed or done. It fades after about a month unless it is used. " +
			whatToSave + "For a lasting rule, preference or fact use remember_long_term; for scratch of this session use note.",
		in: in, out: writtenAnswer(), run: calling(in, remember),
	}
}

func rememberLongTermTool() *tool {
	in := closed(
		text("memory_key", "Stable name such as deploy/freeze ([A-Za-z0-9._/-]); writing it again makes a new version.").must(),
		text("summary", "One durable fact, rule or preference in words that stand alone.").must(),
		sourceText("source").must(),
		oneOf("kind", "Default fact. feedback and project need why and how_to_apply.", durable()),
		text("why", "Why it holds."), text("how_to_apply", "When and how to act on it."),
		text("raw_content", "The wording in full."), importanceField(), tagsField(), namespaceField(),
		number("base_version", "Refuse unless this is the current version; 0: the key must be new.", 0, 1<<30, -1),
		listOf("access", "Restrict it to callers with these tags.", memd.MaxTags, anyWord), text("owner", "Who looks after it."),
		moment("verified_at", "When it was checked against the source. Default now."),
	)
	return &tool{
		name: "remember_long_term", title: "Remember permanently", core: true, idempotent: true,
		doc: "PERMANENT: kept for good and given to every later session until it is replaced or forgotten, so write only what will still be true and matter in months: " +
			"rules, preferences, decisions with their reason, pitfalls, facts with a source. Check it against the source first. recall before you write: reuse the key of what it replaces. " + whatToSave,
		in: in, out: writtenAnswer(), run: calling(in, rememberLongTerm),
	}
}

func noteTool() *tool {
	in := closed(
		text("summary", "The note.").must(),
		text("ttl", `How long it is kept, such as "90s" or "24h".`), sessionField(),
	)
	return &tool{
		name: "note", title: "Note for this session",
		doc: "Keep a scratch note of this session alone: where you are, what to come back to, so that it survives a compaction of the conversation. " +
			"It is gone when the session ends. Not for anything a later session needs: use remember.",
		in: in, out: writtenAnswer(), run: calling(in, note),
	}
}

func recallTool() *tool {
	in := closed(
		text("query", "The question in plain words, with the names and terms that matter.").must(),
		number("limit", "Memories of a page.", 1, memd.MaxRecallLimit, memd.DefaultRecallLimit),
		text("cursor", "next_cursor of the page before, with the same arguments."),
		listOf("tiers", "Only these.", len(memd.AllTiers()), memd.AllTiers()), listOf("kinds", "Only these.", len(memd.AllKinds()), memd.AllKinds()),
		listOf("tags", "Only memories with all of these.", memd.MaxTags, anyWord), namespacesField(), accessField(), sessionField(),
		flag("include_archive", "Look also among what was put away.", false), flag("include_raw", "With the wording in full.", false), maxCharsField(),
	)
	return &tool{
		name: "recall", title: "Recall", core: true, readOnly: true, idempotent: true,
		doc: "Find memories that bear on a question, best first. Use it before you start a task, before you ask the person what they may have said before, and before you decide something that was perhaps decided. " +
			"Memories are observations of their time: check one that names a file, function or flag against the code before you assert it, and mind its age and STALE mark. Not for searching code.",
		in: in, out: recallAnswer(), run: calling(in, recall),
	}
}

func contextTool() *tool {
	in := closed(
		text("query", "The task at hand."), sessionField(), namespacesField(), accessField(), maxCharsField(),
	)
	return &tool{
		name: "context", title: "Start from what is known", core: true, readOnly: true, idempotent: true,
		doc: "Get the rules and preferences in force, what is known about the task, recent events and this session's notes, as one text. " +
			"Call it at the start of a session and again after the conversation was compacted; for a single question use recall.",
		in: in, out: contextAnswer(), run: calling(in, contextOf),
	}
}

func getTool() *tool {
	in := closed(
		text("id", "Of the memory."), text("memory_key", "Or its key."),
		text("namespace", "Of the key. Default: the first of this agent, this project, user, default that has it."), accessField(), maxCharsField(),
	)
	return &tool{
		name: "get", title: "Read one memory", core: true, readOnly: true, idempotent: true,
		doc: "Read one memory whole, with its full wording, by id or memory_key, as other tools give them. To look for something use recall.",
		in:  in, out: answers(memoryFields()...), run: calling(in, get),
	}
}

func listTool() *tool {
	in := closed(
		oneOf("tier", "Only this.", memd.AllTiers()), oneOf("kind", "Only this.", memd.AllKinds()), text("tag", "Only with this."),
		text("memory_key", "Only of this key."), flag("stale", "Only stale ones, or only fresh ones.", false),
		text("q", "Only with this text in the summary."),
		text("namespace", "Only in this. Default: this agent, this project, user, default, one after the other."), sessionField(), accessField(),
		number("limit", "Memories of a page.", 1, memd.MaxListLimit, memd.DefaultListLimit),
		text("cursor", "next_cursor of the page before, with the same arguments."), maxCharsField(),
	)
	in.Properties["stale"].Default = nil // left out, it is no filter
	return &tool{
		name: "list", title: "List memories", readOnly: true, idempotent: true,
		doc: "Go through memories by their attributes, newest first, page by page: to review or tidy up. To answer a question use recall.",
		in:  in, out: listAnswer(), run: calling(in, list),
	}
}

func forgetTool() *tool {
	in := closed(
		text("id", "Of the memory."), text("memory_key", "Or its key, with all its versions."),
		text("namespace", "Of the key. Default: where this session writes."), tagsOfIt(),
	)
	return &tool{
		name: "forget", title: "Forget", destructive: true, idempotent: true,
		doc: "Delete a memory for good, with its older versions; nothing brings it back. Use it where the person asks for it or a memory is plainly wrong. " +
			"What merely changed is better written anew under its key.",
		in: in, out: answers(typed("boolean", "forgotten")...), run: calling(in, forget),
	}
}

func verifyTool() *tool {
	in := closed(
		text("id", "Of the memory."), text("memory_key", "Or its key."),
		text("namespace", "Of the key. Default: the first of this agent, this project, user, default that has it."),
		moment("verified_at", "When it was checked. Default now."), tagsOfIt(),
	)
	return &tool{
		name: "verify", title: "Confirm after a check", idempotent: true,
		doc: "Say that you have just checked a long-term memory against its source and it still holds; this renews its date and lifts its STALE mark. " +
			"Never without looking. Where it no longer holds, write it anew or forget it.",
		in: in, out: writtenAnswer(), run: calling(in, verify),
	}
}

func whyTool() *tool {
	in := closed(
		text("query", "The question that should have found it."), text("id", "Of the memory."), text("memory_key", "Or its key."),
		namespacesField(), accessField(), sessionField(), maxCharsField(),
	)
	return &tool{
		name: "why", title: "Explain a recall", readOnly: true, idempotent: true,
		doc: "Explain why a memory comes back for a query or does not: seven questions with evidence. Use it when recall surprises you.",
		in:  in, out: whyAnswer(), run: calling(in, why),
	}
}
