package configs

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memd"
)

// The commented file is the documentation of the defaults: it states every key
// with its default value and a comment of its own.
func TestSampleStatesTheDefaults(t *testing.T) {
	path := write(t, Sample())
	l := load(t, Options{File: path, Env: home(t)})
	l.Dir = ""
	want := Defaults()
	if !reflect.DeepEqual(l.Config, want) {
		t.Errorf("memd.yaml = %+v\nwant %+v", l.Config, want)
	}

	// The maps are stated as empty, which leaves no origin behind.
	lines := strings.Split(Sample(), "\n")
	for _, f := range fieldsOf(&want) {
		_, last, nested := strings.Cut(f.key, ".")
		stated := f.key + ": {}"
		if nested {
			stated = "  " + last + ": {}"
		}
		line := slices.Index(lines, stated) + 1
		if !f.isMap() {
			_, number, ok := strings.Cut(l.Origin[f.key], "memd.yaml:")
			if !ok {
				t.Errorf("memd.yaml does not state %s", f.key)
				continue
			}
			line, _ = strconv.Atoi(number)
		}
		if line == 0 || !strings.HasPrefix(strings.TrimSpace(lines[line-2]), "#") {
			t.Errorf("memd.yaml has no comment above %s", f.key)
		}
	}
}

func TestDefaultBudgetsAreTheContracts(t *testing.T) {
	var got strings.Builder
	for _, s := range DefaultBudgets().Map() {
		got.WriteString(s.Key + "=" + s.Value + "\n")
	}
	const want = `active_bytes=10380902
history_files=20
store_bytes=209715200
transient_rows=500
transient_chars=4000
transient_ttl=24h
short_rows=5000
short_chars=8000
short_retention=720h
short_archive_importance=5
short_archive_after=168h
long_rows=2000
long_chars=12000
long_versions=20
archive_rows=50000
archive_retention=8760h
raw_bytes=65536
embedding_rows=60000
embedding_bytes=67108864
long_fresh_for=2160h
preference_fresh_for=8760h
per_namespace=0
`
	if got.String() != want {
		t.Errorf("Map =\n%s\nwant\n%s", got.String(), want)
	}
}

func TestLargestBudgets(t *testing.T) {
	l := load(t, Options{Env: home(t), File: write(t,
		"budgets: {raw_bytes: 512KiB, transient_ttl: 720h, short_archive_importance: 10}\n")})
	if l.Budgets.RawBytes != 512<<10 || l.Budgets.TransientTTL != 720*time.Hour {
		t.Errorf("Budgets = %+v", l.Budgets)
	}
}

func TestFreshFor(t *testing.T) {
	b := Budgets{LongFreshFor: time.Hour, PreferenceFreshFor: time.Minute}
	for _, k := range memd.AllKinds() {
		want := time.Hour
		if k == memd.Preference || k == memd.User || k == memd.Feedback {
			want = time.Minute
		}
		if got := b.FreshFor(k); got != want {
			t.Errorf("FreshFor(%s) = %s, want %s", k, got, want)
		}
	}
}

func TestListenerRules(t *testing.T) {
	const cert = "tls: {cert: /c, key: /k}\n"
	for _, c := range []struct {
		text string
		bad  string // the key at fault, "" for none
	}{
		{"listen: off", ""},
		{"listen: localhost:0", ""},
		{"listen: '[::1]:6363'", ""},
		{"listen: 127.9.9.9:6363\nauth: none", ""},
		{"listen: off\nauth: none", ""},
		{"listen: 0.0.0.0:6363", "listen"},
		{"listen: ':6363'", "listen"},
		{"listen: example.org:6363", "listen"},
		{"listen: 10.0.0.1:6363\n" + cert, ""},
		{"listen: 10.0.0.1:6363\ntls: {terminated_elsewhere: true}", ""},
		{"listen: 10.0.0.1:6363\nauth: none\n" + cert, "listen"},
		{"listen: '[::]:6363'\nauth: none\ntls: {terminated_elsewhere: true}", "listen"},
		{"listen: '6363'", "listen"},
		{"listen: 127.0.0.1:65536", "listen"},
		{"listen: '127.0.0.1:'", "listen"},
		{"listen: 127.0.0.1:http", "listen"},
		{"listen: ''", "listen"},
		{"tls: {cert: /c}", "tls.cert"},
		{"tls: {key: /k}", "tls.key"},
		{cert, ""},
	} {
		o := Options{File: write(t, c.text), Env: home(t)}
		if c.bad == "" {
			load(t, o)
		} else if e := refused(t, o); e.Field != c.bad {
			t.Errorf("%q: field = %q, want %q (%v)", c.text, e.Field, c.bad, e)
		}
	}

	l := load(t, Options{File: write(t, "auth: none"), Env: home(t)})
	if len(l.Warnings) != 1 || !strings.HasPrefix(l.Warnings[0], "auth: none: ") {
		t.Errorf("Warnings = %q, want one about auth", l.Warnings)
	}
}

// What a request may name beside the loopback names: what the operator wrote,
// and where the daemon listens, unless that stands for every address.
func TestHostNames(t *testing.T) {
	for listen, want := range map[string]string{
		"off": "a.example", "127.0.0.1:6363": "a.example 127.0.0.1", "Memory.LAN:1": "a.example memory.lan",
		"[FD00::7]:6363": "a.example fd00::7", "0.0.0.0:6363": "a.example", "[::]:6363": "a.example", ":6363": "a.example",
	} {
		c := Config{Listen: listen, Hosts: []string{"a.example"}}
		if got := strings.Join(c.HostNames(), " "); got != want {
			t.Errorf("listening on %s: %s, want %s", listen, got, want)
		}
		if len(c.Hosts) != 1 {
			t.Errorf("the configured hosts became %v", c.Hosts)
		}
	}
}

// The fault of a default is put down to the key that made it one.
func TestListenErrorNamesItsOrigin(t *testing.T) {
	e := refused(t, Options{Env: home(t, "MEMD_LISTEN=0.0.0.0:1")})
	if !strings.HasPrefix(e.Message, "MEMD_LISTEN: listen: ") {
		t.Errorf("error = %v", e)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "10380902": 10380902, "9.9MiB": 10380902, "200 MiB": 200 << 20, "64KiB": 64 << 10,
		"10MB": 10_000_000, "10mb": 10_000_000, "1B": 1, "1.5 GiB": 3 << 29, "2TB": 2e12, "1TiB": 1 << 40,
		"9223372036854775807": 1<<63 - 1,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "-1", "+1", "1.5", "1e6", "0x10", "1_000", "10M", "10K", "MiB", "1 MiB x", ".5MiB", "1.MiB",
		"9223372036854775808", "8388608TiB", "99999999999999999999TiB", " 1", "1\n", "１MiB", "NaN", "InfMiB",
	} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestFormatDurationReadsBack(t *testing.T) {
	for _, d := range []time.Duration{0, time.Millisecond, 90 * time.Second, 10 * time.Minute, 20 * time.Hour,
		time.Hour + time.Second, time.Hour + 30*time.Minute, 8760 * time.Hour} {
		text := formatDuration(d)
		if got, err := parseDuration(text); err != nil || got != d {
			t.Errorf("%s formats as %q, which reads as %s, %v", d, text, got, err)
		}
	}
	if got := formatDuration(720 * time.Hour); got != "720h" {
		t.Errorf("formatDuration(720h) = %q", got)
	}
}
