package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var server = Server{Command: "/opt/memd", Args: []string{"mcp", "--agent", "a"}}

func find(t testing.TB, name string) Client {
	t.Helper()
	c, ok := Find(name)
	if !ok {
		t.Fatalf("there is no client %s", name)
	}
	return c
}

// TestEdit: each file on the left becomes the one on the right, and stays it.
func TestEdit(t *testing.T) {
	const args = `["mcp", "--agent", "a"]`
	for _, c := range []struct{ name, client, old, new string }{
		{"missing", "cursor", "",
			"{\n  \"mcpServers\": {\n    \"memd\": {\n      \"command\": \"/opt/memd\",\n      \"args\": " + args + "\n    }\n  }\n}\n"},
		{"blank", "vscode", " \r\n\t",
			"{\n  \"servers\": {\n    \"memd\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/memd\",\n      \"args\": " + args + "\n    }\n  }\n}\n"},
		{"empty object", "zed", "{}",
			"{\n  \"context_servers\": {\n    \"memd\": {\n      \"command\": \"/opt/memd\",\n      \"args\": " + args + "\n    }\n  }\n}"},
		{"foreign entry, tabs", "cursor", "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\": \"x\"}\n\t}\n}\n",
			"{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\": \"x\"},\n\t\t\"memd\": {\n\t\t\t\"command\": \"/opt/memd\",\n\t\t\t\"args\": " + args + "\n\t\t}\n\t}\n}\n"},
		{"comments and trailing commas", "zed", "// mine\n{\n    /* a */ \"theme\": \"One\", // dark\n    \"context_servers\": {\n        // \"memd\": {},\n        \"x\": {}, // last\n        // end\n    }, // after\n} // the end",
			"// mine\n{\n    /* a */ \"theme\": \"One\", // dark\n    \"context_servers\": {\n        // \"memd\": {},\n        \"x\": {}, // last\n        // end\n        \"memd\": {\n            \"command\": \"/opt/memd\",\n            \"args\": " + args + "\n        },\n    }, // after\n} // the end"},
		{"comment behind the last member", "zed", "{\n  \"a\": 1 // one\n}\n",
			"{\n  \"a\": 1, // one\n  \"context_servers\": {\n    \"memd\": {\n      \"command\": \"/opt/memd\",\n      \"args\": " + args + "\n    }\n  }\n}\n"},
		{"only a comment within", "zed", "{ // nothing yet\n}\n",
			"{ // nothing yet\n  \"context_servers\": {\n    \"memd\": {\n      \"command\": \"/opt/memd\",\n      \"args\": " + args + "\n    }\n  }\n}\n"},
		{"line ends of Windows", "gemini-cli", "{\r\n  \"mcpServers\": {}\r\n}\r\n",
			"{\r\n  \"mcpServers\": {\r\n    \"memd\": {\r\n      \"command\": \"/opt/memd\",\r\n      \"args\": " + args + "\r\n    }\r\n  }\r\n}\r\n"},
		{"one line", "windsurf", `{"mcpServers":{"x":{"url":"u"}},"z":1}`,
			`{"mcpServers":{"x":{"url":"u"}, "memd": {"command": "/opt/memd", "args": ` + args + `}},"z":1}`},
		{"own older entry keeps what its user added", "cursor", "{\"mcpServers\": {\n  \"memd\": {\n    \"args\": [\n      \"old\" // why\n    ],\n    \"env\": {\"K\": \"v\"}, \"disabled\": true,\n    \"command\": \"/old/memd\"\n  },\n  \"y\": {}\n}}",
			"{\"mcpServers\": {\n  \"memd\": {\n    \"args\": " + args + ",\n    \"env\": {\"K\": \"v\"}, \"disabled\": true,\n    \"command\": \"/opt/memd\"\n  },\n  \"y\": {}\n}}"},
		{"own entry that is no server to start", "cursor", "{\n \"mcpServers\": {\n  \"memd\": {\n   \"url\": \"http://127.0.0.1:6363/mcp\"\n  }, \"y\": {}\n }\n}",
			"{\n \"mcpServers\": {\n  \"memd\": {\n   \"command\": \"/opt/memd\",\n   \"args\": " + args + "\n  }, \"y\": {}\n }\n}"},
		{"own entry without a type", "claude-code", "{\"mcpServers\": {\"memd\": {\"command\": \"/opt/memd\", \"args\": " + args + "}}}",
			"{\"mcpServers\": {\"memd\": {\"command\": \"/opt/memd\", \"args\": " + args + ", \"type\": \"stdio\"}}}"},
		{"in place already", "cursor", "{\"mcpServers\": {\"memd\": {\"args\": [\"mcp\",\"--agent\",\"a\",],\"command\": \"\\/opt\\/memd\", \"x\": 1}}}",
			"{\"mcpServers\": {\"memd\": {\"args\": [\"mcp\",\"--agent\",\"a\",],\"command\": \"\\/opt\\/memd\", \"x\": 1}}}"},
		{"the key escaped", "cursor", `{"mcp\u0053ervers": {"a": 12345678901234567890, "b": 1e400}}`,
			`{"mcp\u0053ervers": {"a": 12345678901234567890, "b": 1e400, "memd": {"command": "/opt/memd", "args": ` + args + `}}}`},
		{"opencode", "opencode", "{\n  \"$schema\": \"s\"\n}",
			"{\n  \"$schema\": \"s\",\n  \"mcp\": {\n    \"memd\": {\n      \"type\": \"local\",\n      \"command\": [\"/opt/memd\", \"mcp\", \"--agent\", \"a\"]\n    }\n  }\n}"},
		{"opencode 2", "opencode", "{\n  \"mcp\": {\"servers\": {\"x\": {\"type\": \"remote\"}}}\n}",
			"{\n  \"mcp\": {\"servers\": {\"x\": {\"type\": \"remote\"}, \"memd\": {\"type\": \"local\", \"command\": [\"/opt/memd\", \"mcp\", \"--agent\", \"a\"]}}}\n}"},
		{"opencode with a server called servers", "opencode", "{\"mcp\": {\"servers\": {\"type\": \"remote\"}}}",
			"{\"mcp\": {\"servers\": {\"type\": \"remote\"}, \"memd\": {\"type\": \"local\", \"command\": [\"/opt/memd\", \"mcp\", \"--agent\", \"a\"]}}}"},

		{"no TOML", "codex", "", "[mcp_servers.memd]\ncommand = \"/opt/memd\"\nargs = " + args + "\n"},
		{"TOML", "codex", "# mine\nmodel = \"m\" # which\n\n[mcp_servers.x]\ncommand = 'x'\n",
			"# mine\nmodel = \"m\" # which\n\n[mcp_servers.x]\ncommand = 'x'\n\n[mcp_servers.memd]\ncommand = \"/opt/memd\"\nargs = " + args + "\n"},
		{"TOML of Windows without an end", "codex", "a = 1\r\nb = 2",
			"a = 1\r\nb = 2\r\n\r\n[mcp_servers.memd]\r\ncommand = \"/opt/memd\"\r\nargs = " + args + "\r\n"},
		{"TOML, own older entry", "codex", "t = \"\"\"\n[mcp_servers.memd]\ncommand = 1\"\"\"\"\n[ mcp_servers . \"memd\" ] # ours\n# c\nargs = [ # old\n  \"x\", ']', # ] = [\n] # why\nenv = { A = \"]#\" }\n\"command\" = '/old'\t# p\nstartup_timeout_sec = 9\n[mcp_servers.memd.tools.get]\ncommand = \"no\"\n[z]\ncommand = \"z\"\n",
			"t = \"\"\"\n[mcp_servers.memd]\ncommand = 1\"\"\"\"\n[ mcp_servers . \"memd\" ] # ours\n# c\nargs = " + args + " # why\nenv = { A = \"]#\" }\n\"command\" = \"/opt/memd\"\t# p\nstartup_timeout_sec = 9\n[mcp_servers.memd.tools.get]\ncommand = \"no\"\n[z]\ncommand = \"z\"\n"},
		{"TOML, own entry without arguments", "codex", "[mcp_servers.memd]\ncommand = \"/opt/memd\"", "[mcp_servers.memd]\nargs = " + args + "\ncommand = \"/opt/memd\""},
		{"TOML, own empty entry", "codex", "[mcp_servers.memd] # e", "[mcp_servers.memd] # e\ncommand = \"/opt/memd\"\nargs = " + args + "\n"},
		{"TOML in place already, in another form", "codex", "mcp_servers.memd = {command='/opt/memd', args=['mcp','--agent','a'], x=1}\n", "mcp_servers.memd = {command='/opt/memd', args=['mcp','--agent','a'], x=1}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := find(t, c.client)
			got, err := client.edit([]byte(c.old), server)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.new {
				t.Errorf("it became\n%s\nwant\n%s", got, c.new)
			}
			again, err := client.edit(got, server)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
		})
	}
}

// What memd cannot read or edit is refused by its line, and nothing of it is said.
func TestEditRefuses(t *testing.T) {
	for _, c := range []struct {
		client, old string
		line        int
	}{
		{"cursor", "{\n  \"a\": 1\n  \"hunter2\": 2\n}", 3},
		{"cursor", "{\n\"a\": hunter2\n}", 2},
		{"cursor", "{\"a\": \"\n\"}", 1},
		{"cursor", "{", 1},
		{"cursor", "// all of it a comment\n", 2},
		{"cursor", "\n[]", 2},
		{"cursor", "null", 1},
		{"cursor", "{} {}", 1},
		{"cursor", "{\"a\": 1,,}", 1},
		{"cursor", "{'a': 1}", 1},
		{"cursor", "{\n\"mcpServers\":\n\n[\"hunter2\"]}", 4},
		{"cursor", "{\"mcpServers\": null}", 1},
		{"cursor", "{\"mcpServers\": {},\n\n\"mcpServers\": {}}", 3},
		{"cursor", "{\"mcpServers\": {\"memd\": {},\n\"memd\": {}}}", 2},
		{"opencode", "{\"mcp\": {\"servers\": {}},\n\"mcp\": {}}", 2},
		{"codex", "a = 1\nb = hunter2\n", 2},
		{"codex", "a = 1\na = 2\n", 2},
		{"codex", "[mcp_servers.memd]\n[mcp_servers.memd]\n", 2},
		{"codex", "mcp_servers = {}\n", 0},
		{"codex", "mcp_servers = 1\n", 0},
		{"codex", "[[mcp_servers]]\n", 0},
		{"codex", "[mcp_servers]\nmemd = 1\n", 0},
		{"codex", "[mcp_servers]\nmemd = {command = 'hunter2'}\n", 0},
		{"codex", "[mcp_servers]\nmemd.command = 'hunter2'\n", 0},
		{"codex", "[mcp_servers.memd]\nurl = 'http://hunter2'\n", 0},
	} {
		got, err := find(t, c.client).edit([]byte(c.old), server)
		if err == nil {
			t.Errorf("%q became %q", c.old, got)
			continue
		}
		line := 0
		if bad, ok := errors.AsType[*lineError](err); ok {
			line = bad.line
		}
		if line != c.line || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: line %d, want %d: %v", c.old, line, c.line, err)
		}
	}
}

// TestEditKeepsTheRest: whatever a file holds, what was added can be taken out again,
// which leaves the bytes that were there; and it reads as the old values and memd.
func TestEditKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		client := rapid.SampledFrom(Clients()).Draw(r, "client")
		var old string
		if client.entry == nil {
			old = drawTOML(r)
		} else {
			old = drawJSON(r, client.key[0])
		}
		got, err := client.edit([]byte(old), server)
		if err != nil {
			r.Fatalf("%q: %v", old, err)
		}
		if !without(old, string(got)) {
			r.Fatalf("more than memd's entry was changed:\n%s\nbecame\n%s", old, got)
		}
		decode := decodeJSON
		entry := plain(server)
		if client.entry == nil {
			decode = decodeTOML
		} else {
			entry = client.entry(server)
		}
		before, _ := decode([]byte(old))
		after, err := decode(got)
		if err != nil {
			r.Fatal(err)
		}
		servers, _ := after[client.key[0]].(map[string]any)
		if !reflect.DeepEqual(servers[Name], generic(entry)) {
			r.Fatalf("memd's entry is %v", servers[Name])
		}
		delete(servers, Name)
		if _, had := before[client.key[0]]; !had && len(servers) == 0 {
			delete(after, client.key[0])
		}
		if len(before) == 0 && len(after) == 0 {
			return
		}
		if !reflect.DeepEqual(before, after) {
			r.Fatalf("%v became %v", before, after)
		}
		if again, err := client.edit(got, server); err != nil || !bytes.Equal(again, got) {
			r.Fatalf("a second time: %v\n%s", err, again)
		}
	})
}

// without reports whether new is old with text added at one place, and a comma at one
// before it.
func without(old, new string) bool {
	if old == "" || strings.TrimSpace(old) == "" {
		return true
	}
	i := 0
	for i < len(old) && old[i] == new[i] {
		i++
	}
	rest, added := old[i:], new[i:]
	if strings.HasSuffix(added, rest) {
		return true
	}
	after, ok := strings.CutPrefix(added, ",")
	if !ok {
		return false
	}
	for j := 0; j <= len(rest); j++ {
		if strings.HasPrefix(after, rest[:j]) && strings.HasSuffix(after[j:], rest[j:]) {
			return true
		}
	}
	return false
}

// drawJSON draws an object with comments, trailing commas, odd white space and
// perhaps servers under key.
func drawJSON(r *rapid.T, key string) string {
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "eol")
	extra := func() string {
		return rapid.SampledFrom([]string{"", " ", eol, eol + "\t", "  ", "/* } */", " // \"memd\": {" + eol, eol + "    // ," + eol}).Draw(r, "extra")
	}
	var value func(depth int) string
	members := func(depth int, names []string) string {
		s := "{" + extra()
		for i, name := range names {
			encoded, _ := json.Marshal(name)
			s += string(encoded) + extra() + ":" + extra() + value(depth-1) + extra()
			if i < len(names)-1 || rapid.Bool().Draw(r, "comma") {
				s += "," + extra()
			}
		}
		return s + "}"
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "é\"", "x/y", "", "command"}), 0, 4, rapid.ID[string])
	value = func(depth int) string {
		if depth > 0 && rapid.Bool().Draw(r, "deep") {
			return members(depth, names.Draw(r, "names"))
		}
		return rapid.SampledFrom([]string{"1", "-1.50e3", "null", `"\u00e9{\"memd\":"`, "[1, // x\n]", `[]`, "true"}).Draw(r, "value")
	}
	root := names.Draw(r, "root")
	if rapid.Bool().Draw(r, "servers") {
		inner := value
		outer := append(root, key)
		value = func(depth int) string { // the last member of the root holds the servers
			return inner(depth)
		}
		s := "{" + extra()
		for i, name := range outer {
			encoded, _ := json.Marshal(name)
			s += string(encoded) + ":" + extra()
			if name == key {
				s += members(1, names.Draw(r, "servers"))
			} else {
				s += value(2)
			}
			s += extra()
			if i < len(outer)-1 || rapid.Bool().Draw(r, "comma") {
				s += "," + extra()
			}
		}
		return extra() + s + "}" + extra()
	}
	return extra() + members(3, root) + extra()
}

// drawTOML draws statements that look like others.
func drawTOML(r *rapid.T) string {
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "eol")
	parts := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"# [mcp_servers.memd]", "a = 1", "b = \"[mcp_servers.memd] # \\\"\"", "c = '''" + eol + "[mcp_servers.memd]" + eol + "''''",
		"d = [" + eol + "  1, # ]" + eol + "]", "'e#' = {x = \"}\"} # y", "", "  f.g = 1979-05-27",
	}), 0, 8, rapid.ID[string]).Draw(r, "statements")
	tables := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"[mcp_servers.x]" + eol + "command = 'x'", "[mcp_servers]", "[x.memd]" + eol + "command = 1", "[[y]]", "[mcp_servers.\"m.d\"]",
	}), 0, 5, rapid.ID[string]).Draw(r, "tables")
	return strings.Join(append(parts, tables...), eol) + rapid.SampledFrom([]string{"", eol, eol + eol + " "}).Draw(r, "end")
}

func FuzzEdit(f *testing.F) {
	f.Add("{\"mcpServers\": {}} // x")
	f.Add("[mcp_servers.memd]\ncommand = 'x'\nargs = [\n]")
	f.Add("a = \"\"\"\\\"\"\"\"\"\n[mcp_servers.memd] #\n")
	f.Fuzz(func(t *testing.T, old string) {
		for _, name := range []string{"cursor", "opencode", "codex"} {
			client := find(t, name)
			got, err := client.edit([]byte(old), server)
			if err != nil {
				continue
			}
			if again, err := client.edit(got, server); err != nil || !bytes.Equal(again, got) {
				t.Errorf("%s: %q became %q, and then %q, %v", name, old, got, again, err)
			}
		}
	})
}
