package configs

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
)

// home is an environment with a home folder and nothing else.
func home(t *testing.T, more ...string) []string {
	t.Helper()
	return append([]string{"HOME=" + t.TempDir(), "PATH=/bin"}, more...)
}

// write puts a configuration file into a new folder.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memd.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, o Options) *Loaded {
	t.Helper()
	l, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// refused loads what must be refused, and returns the error.
func refused(t *testing.T, o Options) *memd.Error {
	t.Helper()
	_, err := Load(o)
	e, ok := errors.AsType[*memd.Error](err)
	if !ok {
		t.Fatalf("Load = %v, want a *memd.Error", err)
	}
	if e.Code != memd.CodeInvalidRequest {
		t.Errorf("code = %s, want %s", e.Code, memd.CodeInvalidRequest)
	}
	return e
}

func TestLoadDefaults(t *testing.T) {
	env := home(t)
	l := load(t, Options{Env: env})
	want := Defaults()
	want.Dir = filepath.Join(strings.TrimPrefix(env[0], "HOME="), ".local/share/memd")
	if !reflect.DeepEqual(l.Config, want) {
		t.Errorf("Config = %+v\nwant %+v", l.Config, want)
	}
	if l.File != "" || l.Warnings != nil {
		t.Errorf("File = %q, Warnings = %q, want none", l.File, l.Warnings)
	}
	for key, origin := range l.Origin {
		if origin != "default" {
			t.Errorf("origin of %s = %q, want default", key, origin)
		}
	}
	if n := len(fieldsOf(&want)); len(l.Origin) != n {
		t.Errorf("%d origins for %d keys", len(l.Origin), n)
	}
}

func TestLoadEmptyFiles(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "---\n# nothing\n...\n", "\ufeff", "budgets:\n  # all commented out\n", "hosts:\nroots:\nowners:\n", "{}"} {
		l := load(t, Options{File: write(t, text), Env: home(t)})
		l.Dir = ""
		if !reflect.DeepEqual(l.Config, Defaults()) {
			t.Errorf("%q changes the defaults: %+v", text, l.Config)
		}
	}
}

func TestLoadPrecedence(t *testing.T) {
	path := write(t, "listen: 127.0.0.1:1\nlog:\n  level: debug\n  format: json\nhosts: [A.example, b]\n"+
		"budgets:\n  transient_ttl: 90s\nroots:\n  project/a.b: /src/x/../a\nowners: {rule: ops}\n")
	l := load(t, Options{
		File:  path,
		Env:   home(t, "MEMD_LISTEN=127.0.0.1:2", "MEMD_LOG_LEVEL=warn", "MEMD_BUDGETS_ACTIVE_BYTES=1 MiB", "MEMD_AUTH="),
		Flags: map[string]string{"listen": "127.0.0.1:3", "tls.terminated_elsewhere": "true"},
	})
	want := Defaults()
	want.Dir = l.Dir
	want.Listen = "127.0.0.1:3"
	want.Hosts = []string{"a.example", "b"}
	want.TLS.TerminatedElsewhere = true
	want.Log = Log{Level: "warn", Format: "json"}
	want.Budgets.ActiveBytes = 1 << 20
	want.Budgets.TransientTTL = 90 * time.Second
	want.Roots = map[string]string{"project/a.b": "/src/a"}
	want.Owners = map[string]string{"rule": "ops"}
	if !reflect.DeepEqual(l.Config, want) {
		t.Errorf("Config = %+v\nwant %+v", l.Config, want)
	}
	for key, origin := range map[string]string{
		"listen":                   "flag --listen",
		"tls.terminated_elsewhere": "flag --tls-terminated-elsewhere",
		"log.level":                "env MEMD_LOG_LEVEL",
		"log.format":               "memd.yaml:4",
		"hosts":                    "memd.yaml:5",
		"budgets.active_bytes":     "env MEMD_BUDGETS_ACTIVE_BYTES",
		"budgets.transient_ttl":    "memd.yaml:7",
		"roots.project/a.b":        "memd.yaml:9",
		"owners.rule":              "memd.yaml:10",
		"auth":                     "default",
	} {
		if got := l.Origin[key]; got != origin {
			t.Errorf("origin of %s = %q, want %q", key, got, origin)
		}
	}
	if l.File != path {
		t.Errorf("File = %q, want %q", l.File, path)
	}
}

func TestEntriesAreOrderedAndComplete(t *testing.T) {
	l := load(t, Options{File: write(t, "roots: {b: /b, a: /a}\n"), Env: home(t)})
	entries := l.Entries()
	if got := entries[0]; got != (Entry{"dir", l.Dir, "default"}) {
		t.Errorf("first entry = %v", got)
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Key == "roots.a" })
	if i < 0 || entries[i] != (Entry{"roots.a", "/a", "memd.yaml:1"}) || entries[i+1] != (Entry{"roots.b", "/b", "memd.yaml:1"}) ||
		entries[i+2] != (Entry{"owners", "", "default"}) {
		t.Errorf("entries = %v", entries)
	}
	for _, e := range entries {
		if e.Origin == "" {
			t.Errorf("%s has no origin", e.Key)
		}
	}
}

func TestLoadFindsTheFile(t *testing.T) {
	env := home(t)
	dir := strings.TrimPrefix(env[0], "HOME=")
	put := func(path, listen string) string {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("listen: "+listen), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flagged := put("flagged.yaml", "127.0.0.1:1")
	named := put("named.yaml", "127.0.0.1:2")
	xdg := put("xdg/memd/memd.yaml", "127.0.0.1:3")
	plain := put(".config/memd/memd.yaml", "127.0.0.1:4")

	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"--config", Options{File: flagged, Env: append(env, "MEMD_CONFIG="+named)}, flagged},
		{"MEMD_CONFIG", Options{Env: append(env, "MEMD_CONFIG="+named)}, named},
		{"XDG_CONFIG_HOME", Options{Env: append(env, "XDG_CONFIG_HOME="+dir+"/xdg")}, xdg},
		{"relative XDG_CONFIG_HOME is ignored", Options{Env: append(env, "XDG_CONFIG_HOME=xdg")}, plain},
		{"HOME", Options{Env: env}, plain},
	} {
		if l := load(t, c.o); l.File != c.want || len(l.Warnings) != 0 {
			t.Errorf("%s: File = %q, Warnings = %q, want %q", c.name, l.File, l.Warnings, c.want)
		}
	}

	missing := filepath.Join(dir, "missing.yaml")
	for _, o := range []Options{{File: missing, Env: env}, {Env: append(env, "MEMD_CONFIG="+missing)}} {
		if e := refused(t, o); !strings.HasPrefix(e.Message, missing+": ") || !errors.Is(e, os.ErrNotExist) {
			t.Errorf("error = %v", e)
		}
	}
}

func TestLoadRefusesAFileOthersMayChange(t *testing.T) {
	path := write(t, "")
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if e := refused(t, Options{File: path, Env: home(t)}); e.Hint != "chmod go-w "+path {
			t.Errorf("mode %o: hint = %q", mode, e.Hint)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	load(t, Options{File: path, Env: home(t)})
	load(t, Options{File: os.DevNull, Env: home(t)}) // the idiom for "no file at all"
}

func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "dir: data\ntls: {cert: ~/c.pem, key: sub/../k.pem}\nroots: {user: ~/notes}\n")
	folder := filepath.Dir(path)
	l := load(t, Options{File: path, Env: []string{"HOME=/home/me"}})
	for _, c := range [][2]string{
		{l.Dir, folder + "/data"},
		{l.TLS.Cert, "/home/me/c.pem"},
		{l.TLS.Key, folder + "/k.pem"},
		{l.Roots["user"], "/home/me/notes"},
		{load(t, Options{File: path, Env: []string{"HOME=/home/me", "MEMD_DIR=data/"}}).Dir, cwd + "/data"},
		{load(t, Options{Flags: map[string]string{"dir": "/x//y/"}, Env: []string{"MEMD_DIR=z"}}).Dir, "/x/y"},
		{load(t, Options{Env: []string{"HOME=/home/me", "XDG_DATA_HOME=/data"}}).Dir, "/data/memd"},
		{load(t, Options{Env: []string{"HOME=/home/me", "XDG_DATA_HOME=data"}}).Dir, "/home/me/.local/share/memd"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
	if e := refused(t, Options{Env: []string{"PATH=/bin"}}); e.Field != "dir" || e.Hint != "set --dir or MEMD_DIR" {
		t.Errorf("without HOME: %v (%s)", e, e.Hint)
	}
}

func TestEnvironment(t *testing.T) {
	env := home(t, "MEMD_LISTN=x", "MEMD_TOKEN=sesame", "MEMD_HOSTS=a.example, B.example,")
	l := load(t, Options{Env: env})
	want := []string{
		"the environment variable MEMD_LISTN sets nothing: no such key",
		"the environment variable MEMD_TOKEN sets nothing: no such key",
	}
	if !slices.Equal(l.Warnings, want) {
		t.Errorf("Warnings = %q, want %q", l.Warnings, want)
	}
	if !slices.Equal(l.Hosts, []string{"a.example", "b.example"}) {
		t.Errorf("Hosts = %q", l.Hosts)
	}
	for variable, message := range map[string]string{
		"MEMD_BUDGETS_ACTIVE_BYTES=10M":  "MEMD_BUDGETS_ACTIVE_BYTES: budgets.active_bytes: the unit of",
		"MEMD_BUDGETS_ACTIVE_BYTES=1":    "MEMD_BUDGETS_ACTIVE_BYTES: budgets.active_bytes: 1 bytes are less than 524288",
		"MEMD_BUDGETS_SHORT_ROWS=0":      "MEMD_BUDGETS_SHORT_ROWS: budgets.short_rows: 0 is less than 1",
		"MEMD_TLS_TERMINATED_ELSEWHERE=": "",
		"MEMD_ALLOW_NETWORK_FS=yes":      "MEMD_ALLOW_NETWORK_FS: allow_network_fs: \"yes\" is neither true nor false",
		"MEMD_ROOTS=a":                   "MEMD_ROOTS: roots: can only be set in the configuration file",
	} {
		_, err := Load(Options{Env: home(t, variable)})
		if message == "" {
			if err != nil {
				t.Errorf("%s: %v, want it to count as unset", variable, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "invalid_request: "+message) {
			t.Errorf("%s: error = %v, want %q", variable, err, message)
		}
	}
}

// Every scalar key can be set from the environment, and no two share a variable.
func TestEveryScalarHasAVariable(t *testing.T) {
	c := Defaults()
	seen := map[string]string{}
	for _, f := range fieldsOf(&c) {
		if other := seen[f.variable()]; other != "" {
			t.Errorf("%s and %s share %s", f.key, other, f.variable())
		}
		seen[f.variable()] = f.key
		if f.isMap() || f.text() == "" {
			continue
		}
		l := load(t, Options{Env: home(t, f.variable()+"="+f.text())})
		if got := l.Origin[f.key]; got != "env "+f.variable() {
			t.Errorf("origin of %s = %q", f.key, got)
		}
	}
	for _, want := range []string{"MEMD_DIR", "MEMD_LISTEN", "MEMD_BUDGETS_ACTIVE_BYTES", "MEMD_TLS_TERMINATED_ELSEWHERE"} {
		if seen[want] == "" {
			t.Errorf("%s sets nothing", want)
		}
	}
}

func TestUnknownFlagKey(t *testing.T) {
	if e := refused(t, Options{Env: home(t), Flags: map[string]string{"lisen": "x"}}); e.Message != "lisen: no such key" {
		t.Errorf("error = %v", e)
	}
	e := refused(t, Options{Env: home(t), Flags: map[string]string{"log.level": "loud"}})
	if !strings.HasPrefix(e.Message, "--log-level: log.level: ") {
		t.Errorf("error = %v", e)
	}
}
