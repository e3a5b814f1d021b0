package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"memd"
)

// marker stands for any body, query, token or name of a caller's, also that of a
// field or parameter that no call has.
const marker = "mark7f3a"

// No log line, metric or refusal carries what was submitted.
func TestNothingSubmittedLeaks(t *testing.T) {
	d := start(t, nil, nil)
	m := marker
	var sent []reply
	send := func(method, path, body string) {
		for _, token := range []string{"", d.admin, m} {
			sent = append(sent, d.do(ask{method: method, path: path, body: body, token: token}))
		}
	}
	key := url.PathEscape("k/" + m)
	long := `{"memory_key":"k/` + m + `","summary":"` + m + ` s","source":"` + m + `.md#a","why":"` + m + `","how_to_apply":"` + m + `","raw_content":"` + m + `","owner":"` + m + `","tags":["` + m + `"]`
	send("POST", "/v1/remember", `{"summary":"`+m+`","raw_content":"`+m+`","tags":["`+m+`"],"agent":"`+m+`","session_id":"`+m+`"}`)
	send("POST", "/v1/remember_long_term", long+`}`)
	send("POST", "/v1/remember_long_term", long+`,"kind":"preference"}`)
	send("POST", "/v1/remember_long_term", long+`,"base_version":99}`)
	send("POST", "/v1/sessions/"+m+"/transient", `{"summary":"`+m+`"}`)
	send("GET", "/v1/sessions/"+m+"/transient", "")
	send("POST", "/v1/recall", `{"query":"`+m+`","session_id":"`+m+`"}`)
	send("POST", "/v1/context", `{"query":"`+m+`","session_id":"`+m+`"}`)
	send("GET", "/v1/keys/"+key, "")
	send("GET", "/v1/keys/"+key+"/versions", "")
	send("GET", "/v1/memories?q="+m+"&tag="+m, "")
	send("GET", "/v1/manifest", "")
	for _, value := range []string{
		`{"summary":` + m + `}`, `{"summary":["` + m + `"]}`, `{"` + m + `":1}`, `{"summary":"a","kind":"` + m + `"}`, `{"summary":"a","tags":"` + m + `"}`,
		`{"summary":"a","namespace":"` + m + `!"}`, `{"summary":"a","source":"` + m + `"}`, `{"summary":"a","expires_at":"` + m + `"}`,
		`{"summary":"` + m + `\ud800"}`, `{"` + m + `":1,"` + m + `":2}`, `{"memory_key":"` + m + ` ","summary":"` + m + `","source":"` + m + `"}`,
		`{"query":"` + m + `","cursor":"` + m + `"}`, `{"query":"` + m + `","tiers":["` + m + `"],"kinds":["` + m + `"]}`, `{"query":"` + m + `","namespaces":["` + m + `!"]}`,
		`{"ids":["` + m + `",1]}`, `{"ttl":"` + m + `","summary":"` + m + `"}`, `{"to":"` + m + `"}`, `{"verified_at":"` + m + `"}`, m,
	} {
		for _, path := range []string{"/v1/remember", "/v1/remember_long_term", "/v1/recall", "/v1/context", "/v1/sessions/" + m + "/transient", "/v1/memories/batch", "/v1/memories/" + m + "/promote", "/v1/memories/" + m + "/verify", "/v1/groom"} {
			send("POST", path, value)
		}
		send("PATCH", "/v1/memories/"+m, value)
	}
	for _, path := range []string{
		"/" + m, "/v1/memories/" + m, "/v1/memories?" + m + "=1", "/v1/memories?cursor=" + m, "/v1/memories?limit=" + m, "/v1/memories?kind=" + m, "/v1/memories?tier=" + m,
		"/v1/memories?namespace=" + m + "!", "/v1/memories?stale=" + m, "/v1/keys/" + m + "!", "/v1/doctor?quick=" + m, "/v1/sessions/" + m + "x/transient",
	} {
		send("GET", path, "")
		send("DELETE", path, "")
		send(strings.ToUpper("X"+m), path, "")
	}
	for _, header := range []string{"Origin", "Sec-Fetch-Site", "User-Agent", "X-Request-Id", "Authorization", "Content-Type"} {
		sent = append(sent, d.do(ask{method: "POST", path: "/v1/recall", body: `{}`, tcp: true, header: http.Header{header: {m}}}))
	}
	sent = append(sent, d.do(ask{method: "GET", path: "/v1/stats", tcp: true, host: m}))

	refused := 0
	for _, r := range sent {
		if r.Status < 400 {
			continue
		}
		refused++
		// The head of a version conflict is the memory the caller asked to replace.
		if p := r.problem(); p.Code != memd.CodeVersionConflict && strings.Contains(string(r.Body), marker) {
			t.Errorf("refusal: %s", r.Body)
		}
		for name, values := range r.Header {
			if strings.Contains(strings.ToLower(strings.Join(values, " ")), marker) {
				t.Errorf("header %s: %q", name, values)
			}
		}
		if r.Status >= 500 {
			t.Errorf("%d: %s", r.Status, r.Body)
		}
	}
	if refused < 100 {
		t.Errorf("%d refusals: the test asks too little", refused)
	}
	for what, text := range map[string]string{
		"log": d.log.String(), "metrics": string(d.get("/metrics").Body), "stats": string(d.get("/v1/stats").Body),
		"grooms": string(d.post("/v1/groom", "").Body), "doctor": string(d.get("/v1/doctor").Body),
		"audit": string(d.get("/v1/audit").Body), // a sample names keys and sources
	} {
		text = strings.ToLower(text)
		if i := strings.Index(text, marker); i >= 0 {
			t.Errorf("%s holds the marker: …%s…", what, text[max(0, i-200):min(len(text), i+100)])
		}
		if strings.Contains(text, strings.ToLower(d.admin)) {
			t.Errorf("%s holds a token", what)
		}
	}
}
