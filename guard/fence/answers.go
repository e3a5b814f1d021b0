package fence

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"memd"
)

// signedJSON is text with a sign in the place of JSON that memd answered with.
func signedJSON(text string) string {
	start := strings.IndexAny(text, "{[")
	if start < 0 || !strings.Contains(text, `"content_hash"`) && !strings.Contains(text, Name) {
		return text
	}
	d := json.NewDecoder(strings.NewReader(text[start:]))
	end, documents := 0, 0
	for {
		var v any
		if d.Decode(&v) != nil || !answered(v) {
			break
		}
		end = start + int(d.InputOffset())
		documents++
	}
	if documents == 0 {
		return text
	}
	return text[:start] + whole + text[end:]
}

// wrappers are the names in answers that hold memories, or say something about them.
const wrappers = `results memories versions head content structuredContent isError jsonrpc id result type text used_chars included left_out
 shortened contents uri mimeType resultType ttlMs cacheScope next_cursor empty_reason filtered degraded took_ms memory_key reason`

var anID = regexp.MustCompile(`^` + uuid + `$`)

// answered reports whether v is an answer of memd that holds memories.
func answered(v any) bool {
	switch v := v.(type) {
	case string:
		return Made(v)
	case []any:
		return len(v) > 0 && !slices.ContainsFunc(v, func(one any) bool { return !answered(one) })
	case map[string]any:
		if isMemory(v) {
			return true
		}
		holds := false
		for name, value := range v {
			if name == "_meta" { // of the Model Context Protocol, about who answers
				continue
			}
			if !slices.Contains(strings.Fields(wrappers), name) {
				return false
			}
			holds = answered(value) || holds
		}
		return holds
	}
	return false
}

func isMemory(v map[string]any) bool {
	id, _ := v["id"].(string)
	tier, _ := v["tier"].(string)
	hash, _ := v["content_hash"].(string)
	_, says := v["summary"].(string)
	return says && anID.MatchString(id) && memd.Tier(tier).Valid() && strings.HasPrefix(hash, "sha256:")
}
