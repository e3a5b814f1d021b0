package api

import (
	"net/http"
	"reflect"

	"memd"
)

// routes is the table of the contract's section 5: every call with its role,
// what it takes and what it answers.
func (s *Server) routes() []route {
	const (
		get, post, patch   = http.MethodGet, http.MethodPost, http.MethodPatch
		read, write, admin = memd.RoleRead, memd.RoleWrite, memd.RoleAdmin
	)
	return []route{
		posting(post, "/v1/remember", write, "remember",
			"Write a short-term memory", s.remember, "summary").creating(),
		posting(post, "/v1/remember_long_term", write, "rememberLongTerm",
			"Write a long-term memory, or a new version of it, under its key", s.rememberLongTerm, "memory_key", "summary").creating(),

		posting(post, "/v1/sessions/{session_id}/transient", write, "note",
			"Write a transient memory of a session", s.note, "summary").creating(),
		plain(get, "/v1/sessions/{session_id}/transient", read, "listNotes",
			"List a session's transient memories, oldest first", s.notes),
		ending("/v1/sessions/{session_id}", "endSession",
			"End a session and delete its transient memories", s.endSession),

		posting(post, "/v1/recall", read, "recall",
			"Find the memories that bear on a text, best first", s.recall),
		posting(post, "/v1/context", read, "context",
			"Assemble memories for a prompt within a budget", s.context),
		posting(post, "/v1/why", read, "why",
			"Say why a memory comes back for a query, or does not", s.why),

		plain(get, "/v1/memories", read, "listMemories",
			"List memories, newest first", s.list).taking(listParams...),
		posting(post, "/v1/memories/batch", read, "batch",
			"Read the whole rows of a chosen few", s.batch),
		plain(get, "/v1/memories/{id}", read, "getMemory",
			"Read a whole memory", s.get),
		posting(patch, "/v1/memories/{id}", write, "patchMemory",
			"Change a memory's metadata; null clears a field", s.patch),
		ending("/v1/memories/{id}", "forget",
			"Forget a memory with its older versions", s.forget),

		posting(post, "/v1/memories/{id}/verify", write, "verify",
			"Say that a long-term memory was checked against its source", s.verify).optionalBody(),
		posting(post, "/v1/memories/{id}/promote", write, "promote",
			"Move a memory to the long tier, or an archived one back to short", s.promote),
		posting(post, "/v1/memories/{id}/archive", write, "archive",
			"Move a short memory or a resolved pitfall to the archive", s.archive).optionalBody(),
		posting(post, "/v1/memories/{id}/hit", write, "hit",
			"Record that a pitfall occurred", s.hit).optionalBody(),

		plain(get, "/v1/keys/{memory_key}", read, "getKey",
			"Read the current memory of a key", s.head).taking(namespaceParam),
		plain(get, "/v1/keys/{memory_key}/versions", read, "listVersions",
			"Read every version of a key, newest first", s.versions).taking(namespaceParam),
		ending("/v1/keys/{memory_key}", "forgetKey",
			"Forget every version of a key", s.forgetKey).taking(namespaceParam),

		plain(get, "/v1/gone", admin, "listGone",
			"List keys whose memories were forgotten, archived or have expired", s.gone).taking(namespaceParam, cursorParam),

		plain(get, "/v1/manifest", read, "manifest",
			"Read one line for each memory, newest first", s.manifest).taking(namespaceParam, accessParam),

		posting(post, "/v1/groom", admin, "groom",
			"Run the passes that keep the store in order", s.groom).optionalBody(),
		plain(get, "/v1/groom", admin, "listGrooms",
			"Read the reports of the last runs, newest first, and how far one under way has come", s.grooms),
		plain(get, "/v1/audit", admin, "audit",
			"Go through the checklist of what makes memories worth believing", s.audit).taking(sampleParam),
		plain(get, "/v1/log", admin, "log",
			"Read who did what, newest first, and what was refused", s.entries).taking(logParams...),
		plain(get, "/v1/stats", admin, "stats",
			"Read the use of tiers, databases and budgets", s.stats),
		plain(get, "/v1/doctor", admin, "doctor",
			"Look for faults in the databases", s.doctor).taking(quickParam),
		posting(post, "/v1/backup", admin, "backup",
			"Write a consistent copy of all databases into a new folder", s.backup).optionalBody(),
		streaming(get, "/v1/export", admin, "export",
			"Read the whole store: every row with its versions, and what was forgotten", linesType, s.export).taking(exportParams...),
		posting(post, "/v1/import", admin, "import",
			"Take in what another store exported, its ids kept", s.importRecords, "records").of(reflect.TypeFor[importRequest]()),
		posting(post, "/v1/rollover", admin, "rollover",
			"Make the active database a historical one and put a fresh one in its place", s.rollover).optionalBody(),
		posting(post, "/v1/compact", admin, "compact",
			"Rewrite every database without its free space", s.compact).optionalBody(),
	}
}
