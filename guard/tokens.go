package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memd"
	"memd/internal/atomicfile"
)

// Files of a data directory that belong to this package.
const (
	AdminFile  = "token"  // the administrator's token, in plain text
	TokensFile = "tokens" // the other tokens, as hashes, one JSON object a line
)

// AdminName is the name of the caller that holds the token of AdminFile. It
// and the name of memd.LocalAdmin are nobody else's, nor are those of Peer.
const AdminName = "admin"

// AllNamespaces stands alone in a Token's list for every namespace there is. No
// namespace has this name.
const AllNamespaces = "*"

// Token is one entry of TokensFile, without the token itself, which is shown
// once and kept nowhere. As List returns it no list is null: a token that sees
// all namespaces has ["*"], one that holds no access tag has []. In TokensFile
// all namespaces are null.
type Token struct {
	Name       string    `json:"name"`
	Role       memd.Role `json:"role"`
	Namespaces []string  `json:"namespaces"` // those it sees
	Access     []string  `json:"access"`     // the access tags it holds
	CreatedAt  memd.Time `json:"created_at"`
	ExpiresAt  memd.Time `json:"expires_at,omitzero"` // from then on it opens nothing; absent: never
}

// listed is the token of a file as it is shown.
func (t Token) listed() Token {
	if t.Namespaces == nil {
		t.Namespaces = []string{AllNamespaces}
	}
	if t.Access == nil {
		t.Access = []string{}
	}
	return t
}

// expired reports whether the token's time has come.
func (t Token) expired(now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt.Time)
}

// caller is who holds the token.
func (t Token) caller() memd.Caller {
	return memd.Caller{Name: t.Name, Role: t.Role, Namespaces: t.Namespaces, Access: t.Access}
}

// digest is the SHA-256 of a token. A token is 32 random bytes, so that the
// plain hash of it tells nothing.
type digest [sha256.Size]byte

// entry is a line of TokensFile: a Token and the digest that finds it.
type entry struct {
	SHA256 string `json:"sha256"` // 64 lower-case hexadecimal digits
	Token

	sum digest
}

// Tokens are the callers of one data directory. It is safe for concurrent use,
// also by several processes: a token made or revoked by one is seen by the
// others at their next call.
type Tokens struct {
	dir string
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	admin  watch
	file   watch
	root   *digest // of the administrator's token, nil while it is unreadable
	others []entry
}

// Open reads the tokens of a data directory, making the administrator's token
// on the first start. Log may be nil. A token file that others than its owner
// may open is refused.
func Open(dir string, log *slog.Logger) (*Tokens, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Tokens{dir: dir, log: log, now: time.Now}
	if err := t.makeAdmin(); err != nil {
		return nil, err
	}
	if err := t.loadAdmin(); err != nil {
		return nil, err
	}
	if err := t.loadOthers(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tokens) path(name string) string { return filepath.Join(t.dir, name) }

// makeAdmin writes the administrator's token where there is none.
func (t *Tokens) makeAdmin() error {
	if _, err := os.Lstat(t.path(AdminFile)); err == nil {
		return nil
	}
	unlock, err := lock(t.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Lstat(t.path(AdminFile)); err == nil {
		return nil
	}
	return atomicfile.WriteFile(t.path(AdminFile), []byte(newToken()+"\n"), 0o600)
}

// newToken returns 32 random bytes in base64url, 43 characters.
func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails: it ends the process where the system has no randomness
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Caller returns who holds a token. It reads the files again when they
// changed. While a file cannot be read, or stands open to others, its tokens
// open nothing.
func (t *Tokens) Caller(token string) (memd.Caller, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refresh()
	sum := digest(sha256.Sum256([]byte(token)))
	found, ok := memd.Caller{}, false
	if t.root != nil && same(sum, *t.root) {
		found, ok = memd.Caller{Name: AdminName, Role: memd.RoleAdmin, AllAccess: true}, true
	}
	now := t.now()
	for i := range t.others { // to the end, whether or not it was found
		if same(sum, t.others[i].sum) && !t.others[i].expired(now) {
			found, ok = t.others[i].caller(), true
		}
	}
	return found, ok
}

func same(a, b digest) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// refresh reads the files that changed since they were last read, or may have.
func (t *Tokens) refresh() {
	for _, f := range []struct {
		name string
		last *watch
		load func() error
	}{{AdminFile, &t.admin, t.loadAdmin}, {TokensFile, &t.file, t.loadOthers}} {
		changed := stampOf(t.path(f.name)) != f.last.at
		if !changed && !f.last.young {
			continue
		}
		if err := f.load(); err != nil && changed {
			t.log.Error("token file refused", "file", f.name, "error", err)
		}
	}
}

// New makes a token and returns it; it is not kept and cannot be shown again.
// Without namespaces it sees all of them, without access it holds no tag. When
// it was made is noted here.
func (t *Tokens) New(made Token) (string, error) {
	made.Access = append([]string{}, made.Access...)
	made.Namespaces = slices.Clone(made.Namespaces)
	if len(made.Namespaces) == 0 {
		made.Namespaces = nil
	}
	made.CreatedAt = memd.At(t.now())
	if err := made.check(); err != nil {
		return "", err
	}
	if made.expired(t.now()) {
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "expires_at", "expires_at is past")
	}
	token := newToken()
	sum := digest(sha256.Sum256([]byte(token)))
	err := t.rewrite(func(all []entry) ([]entry, error) {
		if slices.ContainsFunc(all, func(e entry) bool { return e.Name == made.Name }) {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "name", "there is a token of this name").
				WithHint("choose another name, or revoke the old token first")
		}
		return append(all, entry{SHA256: hex.EncodeToString(sum[:]), Token: made, sum: sum}), nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// List returns the tokens beside the administrator's, oldest first.
func (t *Tokens) List() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.loadOthers(); err != nil {
		return nil, err
	}
	list := make([]Token, len(t.others))
	for i, e := range t.others {
		list[i] = e.Token.listed()
	}
	return list, nil
}

// Revoke makes a token worthless at once. A name without a token is not found.
func (t *Tokens) Revoke(name string) error {
	return t.rewrite(func(all []entry) ([]entry, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.Name == name })
		if len(left) == len(all) {
			return nil, memd.FieldErrorf(memd.CodeNotFound, "name", "there is no token of this name").
				WithHint("`memd token list` shows the names; the administrator's token changes by deleting its file and starting memd again")
		}
		return left, nil
	})
}

// rewrite changes TokensFile, alone among all processes while it does.
func (t *Tokens) rewrite(edit func([]entry) ([]entry, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	unlock, err := lock(t.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := t.loadOthers(); err != nil {
		return err
	}
	all, err := edit(t.others)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFile(t.path(TokensFile), format(all), 0o600); err != nil {
		return err
	}
	return t.loadOthers()
}

func (t *Tokens) loadAdmin() error {
	data, at, err := readPrivate(t.path(AdminFile), 4<<10)
	t.admin, t.root = watched(at, t.now()), nil
	if err != nil {
		return err
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 32 {
		return memd.Errorf(memd.CodeInvalidRequest, "%s holds no token of 32 characters or more", t.path(AdminFile)).
			WithHint("delete the file; the next start of memd writes a new token")
	}
	sum := digest(sha256.Sum256([]byte(token)))
	t.root = &sum
	return nil
}

func (t *Tokens) loadOthers() error {
	data, at, err := readPrivate(t.path(TokensFile), 4<<20)
	t.file, t.others = watched(at, t.now()), nil
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	t.others, err = parse(data)
	if err != nil {
		return memd.Errorf(memd.CodeInvalidRequest, "%s: %v", t.path(TokensFile), err).
			WithHint("mend or delete the line; a deleted line revokes its token")
	}
	return nil
}

// stamp tells one state of a file from another. The zero stamp is that of a
// file that is not there.
type stamp struct {
	mod   time.Time
	size  int64
	inode uint64
	mode  fs.FileMode
}

// settled is how old a file must be for its stamp to tell that it is the same:
// a second change within one tick of a file system's clock shows no new time,
// and the coarsest clocks tick every two seconds.
const settled = 2 * time.Second

// watch is what was seen of a file when it was read.
type watch struct {
	at    stamp
	young bool // it may have changed since without a new stamp
}

func watched(at stamp, now time.Time) watch { return watch{at, now.Sub(at.mod) < settled} }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{mod: info.ModTime(), size: info.Size(), inode: inode(info), mode: info.Mode()}
}
