package configs

import (
	"os"
	"strings"
	"testing"
)

// What a file says wrongly is refused with file, line and key, whether YAML,
// the key's type or its meaning is hurt.
func TestFileErrorsNameFileLineAndKey(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "listen: off\nprt: 1\n", "2: prt: no such key"},
		{"unknown nested key", "log:\n  level: info\n  colour: red\n", "3: log.colour: no such key"},
		{"a section's key is not a prefix", "budget:\n  active_bytes: 1MiB\n", "1: budget: no such key"},
		{"duplicate key", "auth: token\nlisten: off\nauth: none\n", "3: auth: the key stands here for the second time"},
		{"duplicate nested key", "log:\n  level: info\n  level: warn\n", "3: log.level: the key stands here for the second time"},
		{"duplicate map key", "roots:\n  a: /a\n  a: /b\n", "3: roots.a: the key stands here for the second time"},
		{"bad unit", "budgets:\n\n  active_bytes: 10M\n", `3: budgets.active_bytes: the unit of "10M" is none of`},
		{"no unit", "budgets: {active_bytes: 9.9}\n", `1: budgets.active_bytes: "9.9" is not a whole number of bytes`},
		{"days", "budgets:\n  transient_ttl: 90d\n", `2: budgets.transient_ttl: "90d" is not a duration`},
		{"bare duration", "budgets:\n  transient_ttl: 90\n", `2: budgets.transient_ttl: "90" is not a duration`},
		{"negative duration", "budgets:\n  transient_ttl: -1h\n", "2: budgets.transient_ttl: -1h0m0s is less than 1ms"},
		{"out of range", "# first\nbudgets:\n  active_bytes: 512KB\n", "3: budgets.active_bytes: 512000 bytes are less than 524288"},
		{"raw content no body carries", "budgets:\n  raw_bytes: 513KiB\n", "2: budgets.raw_bytes: 525312 bytes are more than 524288, the most that a request can carry"},
		{"a note's life", "budgets:\n  transient_ttl: 720h1s\n", "2: budgets.transient_ttl: 720h0m1s is more than 720h"},
		{"importance", "budgets:\n  short_archive_importance: 11\n", "2: budgets.short_archive_importance: 11 is more than 10"},
		{"no number", "budgets:\n  long_rows: many\n", `2: budgets.long_rows: "many" is not a whole number`},
		{"fraction of a row", "budgets:\n  long_rows: 1.5\n", `2: budgets.long_rows: "1.5" is not a whole number`},
		{"share", "budgets:\n  per_namespace: 1.1\n", "2: budgets.per_namespace: 1.1 is no share"},
		{"NaN", "budgets:\n  per_namespace: .nan\n", `2: budgets.per_namespace: ".nan" is not a number`},
		{"NaN again", "budgets:\n  per_namespace: NaN\n", "2: budgets.per_namespace: NaN is no share"},
		{"no value", "listen:\nauth: token\n", "1: listen: no value is given"},
		{"list for a scalar", "auth: token\nlisten: [a]\n", "2: listen: a plain value is wanted here"},
		{"scalar for a list", "hosts: a\n", "1: hosts: a list is wanted here"},
		{"scalar for a section", "auth: token\nbudgets: 5\n", "2: budgets: keys with values are wanted here"},
		{"list for a map", "roots: [a]\n", "1: roots: keys with values are wanted here"},
		{"list at the top", "- a\n", "1: keys with values are wanted here"},
		{"text at the top", "hello\n", "1: keys with values are wanted here"},
		{"anchor", "listen: &a off\n", "1: listen: a plain value is wanted here"},
		{"alias", "dir: /x\nlisten: *a\n", "2: listen: a plain value is wanted here"},
		{"merge", "<<: {a: b}\n", "1: a key is wanted"},
		{"second document", "auth: token\n---\nauth: none\n", "3: a second document in the file"},
		{"not UTF-8", "auth: token\nlisten: \"\xff\"\n", "2: the text is not UTF-8"},
		{"not YAML", "auth: token\nlisten: [a\n", "2: "},
		{"bad namespace", "roots:\n  Project/X: /x\n", `2: roots.Project/X: "Project/X" is no namespace`},
		{"relative root", "roots:\n  a: x\n", "2: roots.a: the folder is not an absolute path"},
		{"bad kind", "owners:\n  rules: me\n", `2: owners.rules: "rules" is no kind`},
		{"blank owner", "owners:\n  rule: ' '\n", "2: owners.rule: an owner has 1 to 200 characters"},
		{"bad links", "guard:\n  links: drop\n", `2: guard.links: "drop" is none of defuse, keep`},
		{"bad schedule", "groom:\n  light: hourly\n", `2: groom.light: "hourly" is no schedule`},
		{"bad schedule of backups", "backup:\n  keep: 3\n  schedule: 0 25 * * *\n", `3: backup.schedule: "0 25 * * *" is no schedule`},
		{"zone alone in a schedule", "backup: {schedule: TZ=UTC}\n", `1: backup.schedule: "TZ=UTC" is no schedule`},
		{"schedule that never comes", "backup: {schedule: 0 0 31 6 *}\n", `1: backup.schedule: "0 0 31 6 *" names a day that never comes`},
		{"time zone in a schedule", "groom:\n  schedule: TZ=0 0 3 * *\n", `2: groom.schedule: "TZ=0 0 3 * *" is no schedule`},
		{"bad host", "auth: token\nhosts: ['*']\n", `2: hosts: "*" is no host name`},
		{"host with a port", "hosts: ['a.example:80']\n", `1: hosts: "a.example:80" is no host name`},
		{"bad auth", "auth: basic\n", "1: auth: is neither token nor none"},
		{"no user id", "socket:\n  peers:\n    ann: {role: read}\n", `3: socket.peers.ann: "ann" is no user id`},
		{"user id with a zero", "socket: {peers: {01: {role: read}}}\n", `1: socket.peers.01: "01" is no user id`},
		{"no such user id", "socket: {peers: {4294967295: {role: read}}}\n", `1: socket.peers.4294967295: "4294967295" is no user id`},
		{"root", "socket: {peers: {0: {role: read}}}\n", "1: socket.peers.0: root is an administrator"},
		{"everyone", "socket: {peers: {65534: {role: read}}}\n", "1: socket.peers.65534: 65534 stands for every user"},
		{"user without a role", "socket:\n  peers:\n    1001:\n      access: [hr]\n", `3: socket.peers.1001.role: "" is none of read, write, admin`},
		{"user alone", "socket:\n  peers:\n    1001:\n", `3: socket.peers.1001.role: "" is none of`},
		{"bad role", "socket:\n  peers:\n    1001:\n      role: root\n", `4: socket.peers.1001.role: "root" is none of`},
		{"bad namespace of a user", "socket:\n  peers:\n    1001:\n      role: read\n      namespaces: [A]\n", `5: socket.peers.1001.namespaces: "A" is no namespace`},
		{"blank tag of a user", "socket:\n  peers: {1001: {role: read, access: [' ']}}\n", "2: socket.peers.1001.access: a tag has 1 to"},
		{"unknown key of a user", "socket:\n  peers:\n    1001:\n      role: read\n      name: x\n", "5: socket.peers.1001.name: no such key"},
		{"scalar for a user", "socket:\n  peers:\n    1001: read\n", "3: socket.peers.1001: keys with values are wanted here"},
		{"user twice", "socket:\n  peers:\n    1001: {role: read}\n    1001: {role: admin}\n", "4: socket.peers.1001: the key stands here for the second time"},
		{"no burst", "limits:\n  burst: 0\n", "2: limits.burst: 0 is not from 1 to 1000000"},
		{"negative rate", "limits:\n  rate: -1\n", "2: limits.rate: -1 is not from 0 to 1000000"},
		{"bad level", "log: {level: INFO}\n", `1: log.level: "INFO" is none of`},
		{"bad zone", "dates:\n  time_zone: Mars/Olympus\n", `2: dates.time_zone: "Mars/Olympus" is neither local nor a time zone`},
		{"no zone", "dates: {time_zone: ''}\n", `1: dates.time_zone: "" is neither local`},
		{"a file for a zone", "dates: {time_zone: ../../etc/passwd}\n", `1: dates.time_zone: `},
		{"bad switch of dates", "dates: {absolute: maybe}\n", `1: dates.absolute: "maybe" is neither true nor false`},
		{"bad guard", "guard: {derivable: no}\n", `1: guard.derivable: "no" is none of`},
		{"names of instructions", "instructions:\n  names: [AGENTS.md, ../x.md]\n", `2: instructions.names: "../x.md" is no name of a file`},
		{"absolute name", "instructions: {names: [/etc/passwd]}\n", `1: instructions.names: "/etc/passwd" is no name of a file`},
		{"too many names", "instructions: {names: [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a]}\n", "1: instructions.names: 17 names are more than 16"},
		{"guard of secrets", "guard:\n  secrets:\n    team: warn\n", `3: guard.secrets.team: "warn" is none of block, redact, off`},
		{"guard of e-mail", "guard: {email: drop}\n", `1: guard.email: "drop" is none of block, redact, off`},
		{"allowed values", "guard:\n  allow:\n    values: [a, 'Tiger(']\n", "3: guard.allow.values: entry 2 is no regular expression"},
		{"a guard for all tiers", "guard: {secrets: block}\n", "1: guard.secrets: keys with values are wanted here"},
		{"bad format", "log: {format: xml}\n", `1: log.format: "xml" is neither`},
		{"negative keep", "backup: {keep: -1}\n", `1: backup.keep: -1 is less than 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			e := refused(t, Options{File: path, Env: home(t)})
			if !strings.HasPrefix(e.Message, path+":"+c.want) {
				t.Errorf("error = %q\nwant prefix %q", e.Message, path+":"+c.want)
			}
			if key, _, named := strings.Cut(strings.TrimLeft(c.want, "0123456789: "), ": "); named && e.Field != "" && e.Field != key {
				t.Errorf("field = %q, want %q", e.Field, key)
			}
		})
	}
}

// A value is taken as it is written, whatever YAML would make of it.
func TestFileTakesTextAsWritten(t *testing.T) {
	l := load(t, Options{Env: home(t), File: write(t,
		"listen: off\nowners: {rule: 0010, fact: yes, user: 1e3, task: \"a: b\"}\nroots: {\"1\": /x}\ngroom: {schedule: '5 4 * * sun'}\n")})
	if l.Listen != ListenOff || l.Owners["rule"] != "0010" || l.Owners["fact"] != "yes" || l.Owners["user"] != "1e3" ||
		l.Owners["task"] != "a: b" || l.Roots["1"] != "/x" || l.Groom.Schedule != "5 4 * * sun" {
		t.Errorf("Config = %+v", l.Config)
	}
}

// An empty schedule is one: it is never due.
func TestEmptySchedules(t *testing.T) {
	l := load(t, Options{Env: home(t), File: write(t, "groom: {schedule: '', light: \"\"}\nbackup: {schedule: ''}\n")})
	if l.Groom.Schedule != "" || l.Groom.Light != "" || l.Backup.Schedule != "" {
		t.Errorf("Config = %+v", l.Config)
	}
}

// Off is the same, and the one way to say so in the environment, where an empty
// variable counts as unset.
func TestSchedulesSwitchedOff(t *testing.T) {
	env := append(home(t), "MEMD_GROOM_SCHEDULE=off", "MEMD_BACKUP_SCHEDULE=", "MEMD_GROOM_LIGHT=")
	l := load(t, Options{Env: env, File: write(t, "groom: {light: off}\nbackup: {schedule: '@daily'}\n")})
	if l.Groom.Schedule != "" || l.Groom.Light != "" || l.Backup.Schedule != "@daily" {
		t.Errorf("Config = %+v", l.Config)
	}
}

func TestFileLimits(t *testing.T) {
	path := write(t, strings.Repeat("#", maxFileBytes))
	load(t, Options{File: path, Env: home(t)})
	if err := os.WriteFile(path, make([]byte, maxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := refused(t, Options{File: path, Env: home(t)}); !strings.Contains(e.Message, "passes 65536 bytes") {
		t.Errorf("error = %v", e)
	}
	for _, nested := range []string{"[", "{", "- ", "a: {"} {
		path := write(t, strings.Repeat(nested, 2000))
		refused(t, Options{File: path, Env: home(t)})
	}
	refused(t, Options{File: t.TempDir(), Env: home(t)})
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		Sample(), "", "---\n", "a: [b", "budgets:\n  active_bytes: 9.9MiB\n", "roots: {a: /x}\nowners:\n  rule: me\n",
		"? a\n: b\n", "<<: *x\n", "a: &b c\nd: *b\n", "hosts:\n- a\n- b\n", "!!str a: b\n", "a: |\n  x\n", "\t", "%YAML 1.2\n---\na: b\n", "a: b: c\n", "\"\\x", "{a: b, a: c}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const path = "/etc/memd/memd.yaml"
		l := newLoader([]string{"HOME=/home/me"})
		if err := l.applyFile(path, text); err != nil {
			if !strings.HasPrefix(err.Error(), "invalid_request: "+path+":") {
				t.Errorf("the error does not name its file: %v", err)
			}
			return
		}
		if err := l.resolve(); err != nil {
			t.Fatal(err)
		}
		if p := l.config.problem(); p != nil && l.origins[p.key].where == "" {
			t.Errorf("the problem with %q does not name its place: %s", p.key, p.text)
		}
	})
}
