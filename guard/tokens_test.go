package guard

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"memd"
)

func open(t testing.TB, dir string) *Tokens {
	t.Helper()
	tokens, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func adminToken(t testing.TB, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, AdminFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func TestAdminToken(t *testing.T) {
	dir := t.TempDir()
	tokens := open(t, dir)
	info, err := os.Stat(filepath.Join(dir, AdminFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	token := adminToken(t, dir)
	if len(token) != 43 {
		t.Errorf("the token has %d characters", len(token))
	}
	c, ok := tokens.Caller(token)
	if !ok || c.Name != AdminName || c.Role != memd.RoleAdmin || !c.AllAccess || !c.Sees("any/where") {
		t.Errorf("caller %+v, %v", c, ok)
	}
	for _, wrong := range []string{"", " ", token + "\n", token[1:], strings.ToUpper(token)} {
		if _, ok := tokens.Caller(wrong); ok {
			t.Errorf("%q opens", wrong)
		}
	}
	if open(t, dir); adminToken(t, dir) != token {
		t.Error("a second start wrote another token")
	}
}

func TestNewToken(t *testing.T) {
	dir := t.TempDir()
	tokens := open(t, dir)
	token, err := tokens.New(Token{Name: "ci", Role: memd.RoleWrite, Namespaces: []string{"project/a", "default"}, Access: []string{"hr"}})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := tokens.Caller(token)
	if !ok || c.Name != "ci" || c.Role != memd.RoleWrite || !c.Sees("project/a") || c.Sees("user") || !c.Holds([]string{"hr"}) || c.Holds([]string{"x"}) {
		t.Errorf("caller %+v, %v", c, ok)
	}
	everywhere, err := tokens.New(Token{Name: "all", Role: memd.RoleRead, Namespaces: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := tokens.Caller(everywhere); !ok || !c.Sees("user") || c.AllAccess || c.Holds([]string{"hr"}) {
		t.Errorf("caller %+v, %v", c, ok)
	}
	b, err := os.ReadFile(filepath.Join(dir, TokensFile))
	if err != nil || bytes.Contains(b, []byte(token)) || bytes.Contains(b, []byte(everywhere)) {
		t.Errorf("the file holds a token: %s, %v", b, err)
	}
	if info, err := os.Stat(filepath.Join(dir, TokensFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	list, err := tokens.List()
	if err != nil || len(list) != 2 || list[0].Name != "ci" || list[0].CreatedAt.IsZero() {
		t.Errorf("list %+v, %v", list, err)
	}
	// Lists are never null, also where a file made by hand leaves them out.
	path := filepath.Join(dir, TokensFile)
	bare := fmt.Sprintf(`{"sha256":"%064x","name":"bare","role":"read"}`, 1)
	if err := os.WriteFile(path, append(b, bare+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err = tokens.List(); err != nil || len(list) != 3 {
		t.Fatalf("list %+v, %v", list, err)
	}
	for i, want := range []struct{ namespaces, access []string }{
		{[]string{"project/a", "default"}, []string{"hr"}}, {[]string{"*"}, []string{}}, {[]string{"*"}, []string{}},
	} {
		if got := list[i]; !slices.Equal(got.Namespaces, want.namespaces) || got.Access == nil || !slices.Equal(got.Access, want.access) {
			t.Errorf("%s: %v %v, want %v", got.Name, got.Namespaces, got.Access, want)
		}
	}
	if c, ok := tokens.Caller(everywhere); !ok || !c.Sees("user") {
		t.Errorf("after a list the caller is %+v, %v", c, ok)
	}
}

func TestRefusedTokens(t *testing.T) {
	tokens := open(t, t.TempDir())
	if _, err := tokens.New(Token{Name: "taken", Role: memd.RoleRead}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		role       memd.Role
		namespaces []string
		access     []string
		field      string
	}{
		{"taken", memd.RoleRead, nil, nil, "name"},
		{"admin", memd.RoleRead, nil, nil, "name"},
		{"Local", memd.RoleRead, nil, nil, "name"},
		{"uid:1001", memd.RoleRead, nil, nil, "name"},
		{"", memd.RoleRead, nil, nil, "name"},
		{" x", memd.RoleRead, nil, nil, "name"},
		{"\u200b", memd.RoleRead, nil, nil, "name"},
		{"a\nb", memd.RoleRead, nil, nil, "name"},
		{"a\xff", memd.RoleRead, nil, nil, "name"},
		{strings.Repeat("a", 201), memd.RoleRead, nil, nil, "name"},
		{"x", "root", nil, nil, "role"},
		{"x", "", nil, nil, "role"},
		{"x", memd.RoleRead, []string{"UP"}, nil, "namespaces"},
		{"x", memd.RoleRead, []string{"a/../b"}, nil, "namespaces"},
		{"x", memd.RoleRead, []string{"*"}, nil, "namespaces"},
		{"x", memd.RoleRead, nil, []string{" "}, "access"},
		{"x", memd.RoleRead, nil, slices.Repeat([]string{"a"}, 33), "access"},
	} {
		_, err := tokens.New(Token{Name: c.name, Role: c.role, Namespaces: c.namespaces, Access: c.access})
		if e, ok := errors.AsType[*memd.Error](err); !ok || e.Code != memd.CodeInvalidRequest || e.Field != c.field {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if list, err := tokens.List(); err != nil || len(list) != 1 {
		t.Errorf("list %+v, %v", list, err)
	}
}

// What another process does to the files counts at the next call.
func TestSeenAtOnce(t *testing.T) {
	dir := t.TempDir()
	daemon, cli := open(t, dir), open(t, dir)
	for i := range 20 {
		name := fmt.Sprint("t", i)
		token, err := cli.New(Token{Name: name, Role: memd.RoleRead})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := daemon.Caller(token); !ok {
			t.Fatalf("%s is not known", name)
		}
		if err := cli.Revoke(name); err != nil {
			t.Fatal(err)
		}
		if _, ok := daemon.Caller(token); ok {
			t.Fatalf("%s opens after it was revoked", name)
		}
	}
	if err := cli.Revoke("t0"); memd.CodeOf(err) != memd.CodeNotFound {
		t.Errorf("revoked twice: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, TokensFile)); err != nil {
		t.Fatal(err)
	}
	if _, ok := daemon.Caller(adminToken(t, dir)); !ok {
		t.Error("the administrator's token needs the other file")
	}
}

// Processes that make tokens at the same time lose none.
func TestConcurrentNew(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for p := range 4 {
		tokens := open(t, dir)
		wg.Go(func() {
			for i := range 5 {
				if _, err := tokens.New(Token{Name: fmt.Sprintf("p%d-%d", p, i), Role: memd.RoleRead}); err != nil {
					t.Error(err)
				}
				tokens.Caller("x")
			}
		})
	}
	wg.Wait()
	if list, err := open(t, dir).List(); err != nil || len(list) != 20 {
		t.Errorf("%d tokens, %v", len(list), err)
	}
}

func TestFilesOpenToOthers(t *testing.T) {
	dir := t.TempDir()
	log := &bytes.Buffer{}
	tokens, err := Open(dir, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.New(Token{Name: "ci", Role: memd.RoleRead})
	if err != nil {
		t.Fatal(err)
	}
	for name, theirs := range map[string]string{AdminFile: adminToken(t, dir), TokensFile: token} {
		path := filepath.Join(dir, name)
		for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o777} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if _, ok := tokens.Caller(theirs); ok {
				t.Errorf("%s with mode %o opens", name, mode)
			}
			if _, err := Open(dir, nil); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s with mode %o: %v", name, mode, err)
			}
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := tokens.Caller(theirs); !ok {
			t.Errorf("%s does not open again", name)
		}
	}
	if n := strings.Count(log.String(), "token file refused"); n != 8 {
		t.Errorf("%d log lines, one a change is right: %s", n, log)
	}
	if strings.Contains(log.String(), token) {
		t.Error("the log holds a token")
	}
}

func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	tokens := open(t, dir)
	if _, err := tokens.New(Token{Name: "ci", Role: memd.RoleRead}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, TokensFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSpace(string(good))
	for name, text := range map[string]string{
		"no JSON": "x", "twice": line + "\n" + line, "no object": "[]", "unknown field": strings.Replace(line, `"name"`, `"nom"`, 1),
		"short hash": strings.Replace(line, `"sha256":"`, `"sha256":"`+"\u0020", 1), "no hash": `{"name":"x","role":"read"}`,
		"two on a line": line + line, "bad role": strings.Replace(line, `"read"`, `"root"`, 1), "reserved": strings.Replace(line, `"ci"`, `"admin"`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, nil); memd.CodeOf(err) != memd.CodeStoreFailed || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := tokens.Caller(adminToken(t, dir)); !ok {
			t.Errorf("%s: the administrator is locked out", name)
		}
		if _, err := tokens.New(Token{Name: "other", Role: memd.RoleRead}); err == nil {
			t.Errorf("%s: the file was overwritten", name)
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%s: the file changed", name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, AdminFile), []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := tokens.Caller("short"); ok {
		t.Error("a guessable token opens")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"sha256":"` + strings.Repeat("0a", 32) + `","name":"ci","role":"read","namespaces":null,"access":[],"created_at":"2026-11-30T02:00:00.000Z"}` + "\n"))
	f.Add([]byte("\n{}\n"))
	f.Add([]byte(`{"sha256":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parse(data)
		if err != nil {
			return
		}
		again, err := parse(format(all))
		if err != nil || len(again) != len(all) {
			t.Fatalf("%q is read as %d tokens, and written and read again as %d: %v", data, len(all), len(again), err)
		}
		for i := range all {
			if all[i].sum != again[i].sum || all[i].Name != again[i].Name || (all[i].Namespaces == nil) != (again[i].Namespaces == nil) {
				t.Fatalf("%+v became %+v", all[i], again[i])
			}
		}
	})
}

// A file that is changed in place within one tick of a coarse clock, to the same
// length, looks as it did: it is read anew while that may be.
func TestChangeWithinATick(t *testing.T) {
	dir := t.TempDir()
	tokens := open(t, dir)
	path, tick := filepath.Join(dir, TokensFile), time.Now()
	text := func(token string) []byte {
		return fmt.Appendf(nil, `{"sha256":"%x","name":"ci","role":"read","namespaces":null,"access":[]}`+"\n", sha256.Sum256([]byte(token)))
	}
	for _, c := range []struct{ now, before string }{{"new", "old"}, {"old", "new"}, {"new", "old"}} {
		if err := os.WriteFile(path, text(c.now), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, tick, tick); err != nil {
			t.Fatal(err)
		}
		if _, ok := tokens.Caller(c.now); !ok {
			t.Errorf("the %s token does not open", c.now)
		}
		if _, ok := tokens.Caller(c.before); ok {
			t.Errorf("the %s token still opens", c.before)
		}
	}
}

// The administrator's token is what its file says, in whatever way that was changed:
// written in place, also within one tick of the clock, or replaced. Where there is none
// nobody is the administrator.
func TestAdminTokenChanges(t *testing.T) {
	dir := t.TempDir()
	tokens := open(t, dir)
	path, tick := filepath.Join(dir, AdminFile), time.Now()
	before := adminToken(t, dir)
	opens := func(token string, want bool) {
		t.Helper()
		if c, ok := tokens.Caller(token); ok != want || ok && (c.Name != AdminName || c.Role != memd.RoleAdmin) {
			t.Errorf("opens: %v as %+v, want %v", ok, c, want)
		}
	}
	opens(before, true)
	for i, write := range []func(text string) error{
		func(text string) error { return os.WriteFile(path, []byte(text), 0o600) },
		func(text string) error {
			return errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, tick, tick))
		},
		func(text string) error {
			return errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, tick, tick))
		},
		func(text string) error {
			return errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path))
		},
		func(text string) error { return errors.Join(os.Remove(path), os.WriteFile(path, []byte(text), 0o600)) },
	} {
		now := strings.Repeat(fmt.Sprint(i), 43)
		if err := write(now + "\n"); err != nil {
			t.Fatal(err)
		}
		opens(now, true)
		opens(before, false)
		before = now
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	opens(before, false)
	opens("", false)
}

// A token opens until its time, and no longer.
func TestExpiry(t *testing.T) {
	tokens := open(t, t.TempDir())
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	tokens.now = func() time.Time { return now }
	for _, past := range []time.Time{now, now.Add(-time.Hour)} {
		_, err := tokens.New(Token{Name: "late", Role: memd.RoleRead, ExpiresAt: memd.At(past)})
		if e, ok := errors.AsType[*memd.Error](err); !ok || e.Field != "expires_at" {
			t.Errorf("expiring at %s: %v", past, err)
		}
	}
	token, err := tokens.New(Token{Name: "ci", Role: memd.RoleRead, ExpiresAt: memd.At(now.Add(time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		opens bool
	}{{0, true}, {time.Hour - time.Millisecond, true}, {time.Hour, false}, {1000 * time.Hour, false}, {time.Minute, true}} {
		now = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC).Add(c.after)
		if _, ok := tokens.Caller(token); ok != c.opens {
			t.Errorf("after %s: opens %v, want %v", c.after, ok, c.opens)
		}
	}
	list, err := tokens.List()
	if err != nil || len(list) != 1 || !list[0].ExpiresAt.Equal(now.Add(59*time.Minute)) {
		t.Errorf("list %+v, %v", list, err)
	}
}

// A token that is made goes by the same identity that its caller shows.
func TestIdentityOfAToken(t *testing.T) {
	dir := t.TempDir()
	tokens, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range 2 {
		token, err := tokens.New(Token{Name: "ci", Role: memd.RoleRead})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := tokens.Caller(token)
		list, err := tokens.List()
		if err != nil || list[0].ID != c.Identity() || c.Name != "ci" || ids[c.Identity()] {
			t.Errorf("listed as %+v, called as %q, %v", list, c.Identity(), err)
		}
		ids[c.Identity()] = true
		if err := tokens.Revoke("ci"); err != nil {
			t.Fatal(err)
		}
	}
}

// Whoever looks first, the loop that notices changes or a request, the log tells of
// a file that cannot be used, once for each change, also of one within a tick.
func TestFaultsAreTold(t *testing.T) {
	dir := t.TempDir()
	log := &bytes.Buffer{}
	to := slog.New(slog.NewTextHandler(log, nil))
	tokens, err := Open(dir, to)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := OpenAllowed(dir, to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.New(Token{Name: "ci", Role: memd.RoleRead}); err != nil {
		t.Fatal(err)
	}
	if _, err := allowed.Allow(print(1), "r"); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]func() error{
		TokensFile:  func() error { _, err := tokens.List(); return err },
		AllowedFile: func() error { _, err := allowed.List(); return err },
	} {
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tick := time.Now()
		for what, change := range map[string]func() error{
			"open":    func() error { return os.Chmod(path, 0o644) },
			"damaged": func() error { return os.WriteFile(path, append([]byte("{}\n"), good...), 0o600) },
			"within a tick": func() error {
				return errors.Join(os.WriteFile(path, bytes.Repeat([]byte("x"), len(good)), 0o600), os.Chtimes(path, tick, tick))
			},
		} {
			if err := errors.Join(os.WriteFile(path, good, 0o600), os.Chmod(path, 0o600), os.Chtimes(path, tick, tick), list()); err != nil {
				t.Fatal(err)
			}
			log.Reset()
			if err := change(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := list(); memd.CodeOf(err) != memd.CodeStoreFailed || err == nil {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			}
			tokens.Caller("x")
			allowed.Has(print(2))
			if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "file="+name) {
				t.Errorf("%s, %s: %d lines, one is right: %s", name, what, n, log)
			}
			if faults := Check(dir); len(faults) != 1 || !strings.Contains(faults[0].Error(), path) {
				t.Errorf("%s, %s: faults %v", name, what, faults)
			}
		}
		if err := errors.Join(os.WriteFile(path, good, 0o600), os.Chmod(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		if faults := Check(dir); faults != nil {
			t.Errorf("mended, and yet %v", faults)
		}
	}
}
