package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/guard"
)

// hiddenWord stands in every text of the rows that the callers of this test may
// not see, and in no request that an answer may repeat.
const hiddenWord = "quagga"

// aim is a memory that a request is about.
type aim struct {
	what, namespace, id, key, session, query string
}

// hide writes rows that a member of team/mine without the tag board must not
// see, and returns them.
func (d *daemon) hide(t *testing.T) []aim {
	t.Helper()
	var aims []aim
	for _, where := range []struct{ what, namespace, access string }{
		{"another namespace", "team/theirs", `[]`}, {"another's tag", "team/mine", `["board"]`}, {"both", "team/theirs", `["board"]`},
	} {
		write := func(path, fields string, rest ...string) string {
			var m memd.Memory
			body := fmt.Sprintf(`{"namespace":%q,"access":%s,"raw_content":"raw quagga","tags":["quagga"],"importance":9,%s}`, where.namespace, where.access, fields)
			d.post(path, body).want(201).into(&m)
			for _, step := range rest {
				d.post("/v1/memories/"+m.ID+step, "").want(200)
			}
			return m.ID
		}
		own := strings.ReplaceAll(where.what, " ", "-") // so that no two rows are of one content
		key := "plan/" + strings.ReplaceAll(strings.ReplaceAll(own, "'", ""), "-", ".")
		d.post("/v1/remember_long_term", fmt.Sprintf(`{"memory_key":%q,"namespace":%q,"access":%s,"summary":"quagga of old %s","source":"quagga.md#x"}`,
			key, where.namespace, where.access, own)).want(201)
		var head memd.Memory
		d.post("/v1/remember_long_term", fmt.Sprintf(`{"memory_key":%q,"namespace":%q,"access":%s,"kind":"feedback","summary":"quagga rule %s","raw_content":"raw quagga","why":"for the quagga","how_to_apply":"as the quagga","owner":"quagga","source":"quagga.md#y"}`,
			key, where.namespace, where.access, own)).want(200).into(&head)
		for what, id := range map[string]string{
			"long":    head.ID,
			"short":   write("/v1/remember", fmt.Sprintf(`"summary":"quagga event %s","source":"quagga.md","agent":"quagga","session_id":"quagga"`, own)),
			"archive": write("/v1/remember", fmt.Sprintf(`"summary":"quagga past %s"`, own), "/archive"),
		} {
			aims = append(aims, aim{what + " under " + where.what, where.namespace, id, key, "theirs", "quagga " + what})
		}
	}
	var note memd.Memory
	d.post("/v1/sessions/theirs/transient", `{"summary":"quagga note"}`).want(201).into(&note)
	slices.SortFunc(aims, func(a, b aim) int { return strings.Compare(a.what, b.what) })
	return append(aims, aim{"another's note", "team/mine", note.ID, "plan/none", "theirs", "quagga note"})
}

// twin is a memory that never was, where a would be.
func (a aim) twin() aim {
	return aim{"nothing", a.namespace, "01a3c1f0-0000-7000-8000-000000000000", "plan/never", "nobodys", "okapi" + strings.TrimPrefix(a.query, hiddenWord)}
}

// value is what a request says in a field or query parameter of that name. Absent
// is nil. A name that is not known fails the test: whoever adds one to a call
// says here how it could lead to a hidden memory.
func (a aim) value(name string) (v any, known bool) {
	values := map[string]any{
		"query": a.query, "q": a.query, "namespace": a.namespace, "namespaces": []string{a.namespace}, "access": []string{"board"},
		"session_id": a.session, "memory_key": a.key, "id": a.id, "ids": []string{a.id},
		"summary": "a row of mine", "source": "AGENTS.md#x", "importance": 3, "base_version": 2, "tags": []string{},
		"limit": 100, "include_archive": true, "include_raw": true, "explain": true, "touch": false, "sample": 50,
		"dry_run": false, "force": true, "quick": true,
		"tag": nil, "tier": nil, "kind": nil, "stale": nil, "cursor": nil, "tiers": nil, "kinds": nil, "tools": nil, "max_chars": nil,
		"raw_content": nil, "agent": nil, "expires_at": nil, "resolved_at": nil, "verified_at": nil, "why": nil, "how_to_apply": nil,
		"owner": nil, "ttl": nil, "to": nil, "light": nil, "caller": nil, "action": nil, "created_at": nil, "source_status": "missing",
		"records": nil, // that an id or a key is taken an import says, and of its row nothing: see TestImportHidden
	}
	v, known = values[name]
	return v, known
}

// requests are what a caller may ask of a route about a memory: with every field
// that it takes, and without some.
func (a aim) requests(t *testing.T, rt route) []ask {
	t.Helper()
	path := strings.NewReplacer("{id}", a.id, "{session_id}", a.session, "{memory_key}", url.PathEscape(a.key)).Replace(rt.path)
	var asks []ask
	seen := map[string]bool{}
	for _, without := range [][]string{
		{"id"}, {"memory_key"}, {"id", "namespace", "namespaces"}, {"id", "access"}, {"memory_key", "query", "q"}, {"id", "session_id"}, {"id", "base_version", "tags"},
	} {
		query, body := url.Values{}, map[string]any{}
		fill := func(name string, set func(v any)) {
			v, known := a.value(name)
			if !known {
				t.Errorf("%s %s: it is not said how %s may lead to a hidden memory", rt.method, rt.path, name)
			}
			if v != nil && !slices.Contains(without, name) {
				set(v)
			}
		}
		for _, p := range rt.params {
			fill(p.name, func(v any) { query.Set(p.name, strings.Trim(fmt.Sprint(v), "[]")) })
		}
		one := ask{method: rt.method, path: path}
		if len(query) > 0 {
			one.path += "?" + query.Encode()
		}
		if rt.in != nil {
			for _, name := range slices.Sorted(maps.Keys(placesOf(rt.in))) {
				fill(name, func(v any) { body[name] = v })
			}
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			one.body = string(text)
		}
		if !seen[one.path+one.body] {
			seen[one.path+one.body] = true
			asks = append(asks, one)
		}
	}
	return asks
}

// varying is what differs between two answers that say the same.
var varying = regexp.MustCompile(`"request_id":"[^"]*"|"took_ms":[0-9.]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|plan/[a-z.]+`)

func same(r reply) string {
	return fmt.Sprint(r.Status, " ", varying.ReplaceAllString(string(r.Body), "_"))
}

// No route shows a caller a memory of another namespace, under a tag that it
// does not hold or of another's session, nor changes it, nor answers otherwise
// than if it never had been. The test goes through the table of routes, so that a
// new one is held to it from its first day.
func TestHiddenOnEveryRoute(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Rate = 0 }, nil)
	d.post("/v1/remember", `{"summary":"a kumquat of mine","namespace":"team/mine"}`).want(201)
	d.post("/v1/remember_long_term", `{"memory_key":"plan/mine","summary":"the kumquat plan","source":"AGENTS.md#x","namespace":"team/mine"}`).want(201)
	aims := d.hide(t)
	before := d.whole(t, aims)
	for _, role := range []memd.Role{memd.RoleRead, memd.RoleWrite, memd.RoleAdmin} {
		token, err := d.tokens.New(guard.Token{Name: "a-" + string(role), Role: role, Namespaces: []string{"team/mine"}, Access: []string{"it"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, rt := range d.server.table {
			t.Run(string(role)+" "+rt.method+" "+rt.path, func(t *testing.T) {
				d.heldTo(t, rt, token, aims)
				if r := d.del("/v1/sessions/nobodys"); r.Status != 204 && r.Status != 404 {
					t.Errorf("ending a session: %d", r.Status)
				}
			})
		}
	}
	if after := d.whole(t, aims); !maps.Equal(before, after) {
		t.Errorf("a hidden memory changed:\n%v\n%v", before, after)
	}
}

// creates are the routes that write something new: its name may be taken, or have
// been written by the request before.
var creates = map[string]bool{"remember": true, "rememberLongTerm": true, "note": true}

// heldTo asks about each hidden memory, and about one that never was.
func (d *daemon) heldTo(t *testing.T, rt route, token string, aims []aim) {
	t.Helper()
	for _, a := range aims {
		never := a.twin().requests(t, rt)
		for i, one := range a.requests(t, rt) {
			one.token, never[i].token = token, token
			got, want := d.do(one), d.do(never[i])
			if strings.Contains(string(got.Body), hiddenWord) || strings.Contains(fmt.Sprint(got.Header), hiddenWord) {
				t.Errorf("%s: %s %s: it is shown: %d %s", a.what, one.path, one.body, got.Status, got.Body)
			}
			if rt.role == memd.RoleAdmin { // it concerns the whole store: ids, but no text
				continue
			}
			for _, other := range aims {
				if other.id != a.id && strings.Contains(string(got.Body), other.id) {
					t.Errorf("%s: %s %s: the id of %s is shown: %s", a.what, one.path, one.body, other.what, got.Body)
				}
			}
			if same(got) != same(want) && !creates[rt.id] {
				t.Errorf("%s: %s %s is answered\n%s, and of nothing\n%s", a.what, one.path, one.body, same(got), same(want))
			}
		}
	}
}

// whole is every hidden memory as the administrator reads it, but for what
// reading it counts.
func (d *daemon) whole(t *testing.T, aims []aim) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, a := range aims {
		var m memd.Memory
		d.get("/v1/memories/" + a.id).want(200).into(&m)
		m.AccessCount, m.LastAccessedAt = 0, memd.Time{}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), hiddenWord) {
			t.Fatalf("%s holds nothing to hide: %s", a.what, text)
		}
		all[a.what] = string(text)
	}
	return all
}

// What a caller writes is not told to be like something that it may not see, and
// a key that is taken out of its sight is refused without a word of what holds it.
func TestWritingBesideTheHidden(t *testing.T) {
	d := start(t, nil, nil)
	aims := d.hide(t)
	before := d.whole(t, aims)
	token, err := d.tokens.New(guard.Token{Name: "member", Role: memd.RoleWrite, Namespaces: []string{"team/mine"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range aims {
		var m memd.Memory
		d.get("/v1/memories/" + a.id).want(200).into(&m)
		text, err := json.Marshal(map[string]any{"summary": m.Summary, "raw_content": m.RawContent, "namespace": "team/mine"})
		if err != nil {
			t.Fatal(err)
		}
		r := d.do(ask{method: "POST", path: "/v1/remember", token: token, body: string(text)}).want(201)
		if strings.Contains(string(r.Body), a.id) || strings.Contains(string(r.Body), "duplicate") {
			t.Errorf("%s: the same content is answered %s", a.what, r.Body)
		}
	}
	for _, base := range []string{``, `,"base_version":2`, `,"base_version":0`} {
		r := d.do(ask{method: "POST", path: "/v1/remember_long_term", token: token,
			body: `{"memory_key":"plan/anothers.tag","summary":"mine now","source":"AGENTS.md#x","namespace":"team/mine"` + base + `}`})
		if r.Status < 400 || strings.Contains(string(r.Body), hiddenWord) {
			t.Errorf("a key that is taken: %d %s", r.Status, r.Body)
		}
	}
	if after := d.whole(t, aims); !maps.Equal(before, after) {
		t.Errorf("a hidden memory changed:\n%v\n%v", before, after)
	}
}

// The tests above would see what they look for: who may see the rows is shown them.
func TestShownToThoseWhoMay(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Rate = 0 }, nil)
	aims := d.hide(t)
	token, err := d.tokens.New(guard.Token{Name: "boss", Role: memd.RoleRead, Access: []string{"board"}})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, rt := range d.server.table {
		for _, a := range aims {
			for _, one := range a.requests(t, rt) {
				one.token = token
				if strings.Contains(string(d.do(one).Body), hiddenWord) {
					shown[rt.id] = true
				}
			}
		}
	}
	want := []string{"batch", "context", "getKey", "getMemory", "listMemories", "listVersions", "manifest", "recall", "why"}
	if got := slices.Sorted(maps.Keys(shown)); !reflect.DeepEqual(got, want) {
		t.Errorf("%q show memories, want %q", got, want)
	}
}
