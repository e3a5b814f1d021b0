package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memd"
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

	ID string `json:"-"` // of its caller: the name, and the first 64 bits of the digest
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
	return memd.Caller{Name: t.Name, ID: t.ID, Role: t.Role, Namespaces: t.Namespaces, Access: t.Access}
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
	log *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	admin  file[*digest] // nil while it is unreadable
	others file[[]entry]
}

// Open reads the tokens of a data directory, making the administrator's token
// on the first start. Log may be nil. A token file that others than its owner
// may open is refused.
func Open(dir string, log *slog.Logger) (*Tokens, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Tokens{log: log, now: time.Now, admin: adminFile(dir), others: tokensFile(dir)}
	if _, err := t.admin.create(func() string { return newToken() + "\n" }); err != nil {
		return nil, err
	}
	if err := t.admin.load(t.now()); err != nil {
		return nil, err
	}
	if err := t.others.load(t.now()); err != nil {
		return nil, err
	}
	return t, nil
}

func adminFile(dir string) file[*digest] {
	path := filepath.Join(dir, AdminFile)
	return file[*digest]{dir: dir, name: AdminFile, limit: 4 << 10, needed: true,
		parse: func(data []byte) (*digest, error) { return parseAdmin(path, data) }}
}

func tokensFile(dir string) file[[]entry] {
	path := filepath.Join(dir, TokensFile)
	return file[[]entry]{dir: dir, name: TokensFile, limit: 4 << 20,
		parse: func(data []byte) ([]entry, error) { return parseTokens(path, data) }}
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
	now := t.now()
	t.refresh(now)
	sum := digest(sha256.Sum256([]byte(token)))
	found, ok := memd.Caller{}, false
	if root := t.admin.holds; root != nil && same(sum, *root) {
		found, ok = memd.Caller{Name: AdminName, Role: memd.RoleAdmin, AllAccess: true}, true
	}
	for i := range t.others.holds { // to the end, whether or not it was found
		if e := &t.others.holds[i]; same(sum, e.sum) && !e.expired(now) {
			found, ok = e.caller(), true
		}
	}
	return found, ok
}

func same(a, b digest) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// refresh reads the files that changed since they were last read, or may have.
func (t *Tokens) refresh(now time.Time) {
	for _, f := range [...]struct {
		name string
		err  error
	}{{AdminFile, t.admin.refresh(now)}, {TokensFile, t.others.refresh(now)}} {
		if f.err != nil {
			t.log.Error("token file refused", "file", f.name, "error", f.err)
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
	t.refresh(t.now()) // not load: whoever comes next would take the fault for told
	if err := t.others.fault; err != nil {
		return nil, err
	}
	list := make([]Token, len(t.others.holds))
	for i, e := range t.others.holds {
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
				WithHint("`memd token list` shows the names; the administrator's token changes by writing another into its file, or by deleting that and starting memd again")
		}
		return left, nil
	})
}

// rewrite changes TokensFile.
func (t *Tokens) rewrite(edit func([]entry) ([]entry, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return rewrite(&t.others, t.now(), edit)
}

// parseAdmin reads AdminFile.
func parseAdmin(path string, data []byte) (*digest, error) {
	token := strings.TrimSpace(string(data))
	if len(token) < 32 {
		return nil, memd.Errorf(memd.CodeStoreFailed, "%s holds no token of 32 characters or more", path).
			WithHint("delete the file; the next start of memd writes a new token")
	}
	sum := digest(sha256.Sum256([]byte(token)))
	return &sum, nil
}

// parseTokens is parse for the file at path.
func parseTokens(path string, data []byte) ([]entry, error) {
	all, err := parse(data)
	if err != nil {
		return nil, memd.Errorf(memd.CodeStoreFailed, "%s: %v", path, err).
			WithHint("mend or delete the line; a deleted line revokes its token")
	}
	return all, nil
}
