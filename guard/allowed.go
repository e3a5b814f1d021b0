package guard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"memd"
)

// Files of a data directory that belong to the allow-list.
const (
	KeyFile     = "guard.key" // what fingerprints of secrets are made with: 64 hexadecimal digits
	AllowedFile = "allowed"   // findings that are let pass, one JSON object a line
)

// Bounds of the allow-list.
const (
	MaxAllowed     = 1000 // entries
	MaxReasonChars = 500
)

// Allowance is a finding that a person let pass.
type Allowance struct {
	Fingerprint string    `json:"fingerprint"` // 32 hexadecimal digits, see package secrets
	Reason      string    `json:"reason"`
	CreatedAt   memd.Time `json:"created_at"`
}

// allowedLine is a line of AllowedFile.
type allowedLine struct {
	Allowance
	Key string `json:"key,omitempty"` // the mark of the key that the fingerprint was made with; a person may leave it out
}

// markOf is what tells keys apart and nothing of them: a few bits of a hash of 256
// random ones.
func markOf(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("memd allow-list"))
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

// strangers is how many lines were made with another key than that of the mark: they
// let nothing pass.
func strangers(list []allowedLine, mark string) (n int) {
	for _, one := range list {
		if one.Key != "" && one.Key != mark {
			n++
		}
	}
	return n
}

// Allowed is the allow-list of one data directory. It is safe for concurrent use,
// also by several processes: what one changes is seen by the others at their next
// question.
type Allowed struct {
	log *slog.Logger
	now func() time.Time
	key []byte

	mu   sync.Mutex
	list file[[]allowedLine]
}

// OpenAllowed reads the allow-list of a data directory, making the key of its
// fingerprints where there is none. Log may be nil. Files that others than their
// owner may open are refused.
func OpenAllowed(dir string, log *slog.Logger) (*Allowed, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a := &Allowed{log: log, now: time.Now, list: allowedFile(dir)}
	key := keyFile(dir)
	made, err := key.create(func() string { return newKey() + "\n" })
	if err != nil {
		return nil, err
	}
	if err := key.load(a.now()); err != nil {
		return nil, err
	}
	a.key = key.holds
	if err := a.list.load(a.now()); err != nil {
		return nil, err
	}
	if made && len(a.list.holds) > 0 {
		a.log.Warn("guard.key was lost and is made anew; what was allowed before passes no more", "file", KeyFile, "entries", len(a.list.holds))
	} else {
		a.warn()
	}
	return a, nil
}

// warn tells of entries that let nothing pass.
func (a *Allowed) warn() {
	if n := strangers(a.list.holds, markOf(a.key)); n > 0 {
		a.log.Warn("allowed with another guard.key, and passing no more", "file", AllowedFile, "entries", n)
	}
}

func keyFile(dir string) file[[]byte] {
	path := filepath.Join(dir, KeyFile)
	return file[[]byte]{dir: dir, name: KeyFile, limit: 4 << 10, needed: true,
		parse: func(data []byte) ([]byte, error) { return parseKey(path, data) }}
}

func allowedFile(dir string) file[[]allowedLine] {
	path := filepath.Join(dir, AllowedFile)
	return file[[]allowedLine]{dir: dir, name: AllowedFile, limit: 4 << 20,
		parse: func(data []byte) ([]allowedLine, error) { return parseAllowed(path, data) }}
}

// Key is what fingerprints are made with. It must not leave the process.
func (a *Allowed) Key() []byte { return a.key }

// Has reports whether a finding is let pass. It reads the file again when that
// changed, or may have. While it cannot be read, nothing passes.
func (a *Allowed) Has(fingerprint string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh()
	return slices.ContainsFunc(a.list.holds, func(one allowedLine) bool { return one.Fingerprint == fingerprint })
}

// List returns the entries, oldest first.
func (a *Allowed) List() ([]Allowance, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh() // not load, see Tokens.List
	list := make([]Allowance, len(a.list.holds))
	for i, one := range a.list.holds {
		list[i] = one.Allowance
	}
	return list, a.list.fault
}

// refresh reads the file again where it changed since it was last read, or may have.
func (a *Allowed) refresh() {
	before := a.list.at
	if err := a.list.refresh(a.now()); err != nil {
		a.log.Error("allow-list refused", "file", AllowedFile, "error", err)
	}
	if a.list.at != before {
		a.warn()
	}
}

// Allow lets a finding pass from now on. For one that passes already the reason
// becomes the new one.
func (a *Allowed) Allow(fingerprint, reason string) (Allowance, error) {
	one := Allowance{Fingerprint: strings.ToLower(fingerprint), Reason: reason, CreatedAt: memd.At(a.now())}
	if err := one.check(); err != nil {
		return Allowance{}, err
	}
	return one, a.rewrite(func(all []allowedLine) ([]allowedLine, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(old allowedLine) bool { return old.Fingerprint == one.Fingerprint })
		if len(left) >= MaxAllowed {
			return nil, memd.Errorf(memd.CodeBudgetExceeded, "%d findings are allowed already", MaxAllowed).
				WithHint("revoke what is not met any more, or allow a form of values in the configuration (guard.allow.values)")
		}
		return append(left, allowedLine{one, markOf(a.key)}), nil
	})
}

// Revoke lets a finding pass no more. One that does not pass is not found.
func (a *Allowed) Revoke(fingerprint string) error {
	return a.rewrite(func(all []allowedLine) ([]allowedLine, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(old allowedLine) bool { return old.Fingerprint == strings.ToLower(fingerprint) })
		if len(left) == len(all) {
			return nil, memd.FieldErrorf(memd.CodeNotFound, "fingerprint", "this fingerprint is not allowed").
				WithHint("`memd guard list` shows those that are")
		}
		return left, nil
	})
}

// rewrite changes the file.
func (a *Allowed) rewrite(edit func([]allowedLine) ([]allowedLine, error)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return rewrite(&a.list, a.now(), edit)
}

// parseAllowed reads the allow-list at path.
func parseAllowed(path string, data []byte) ([]allowedLine, error) {
	list, err := parseLines(data, func(line []byte, before []allowedLine) (one allowedLine, err error) {
		switch {
		case !readObject(line, &one):
			return one, errors.New("this is no JSON object with fingerprint, reason, created_at and key")
		case len(before) == MaxAllowed:
			return one, fmt.Errorf("there are more than %d entries", MaxAllowed)
		}
		return one, one.check()
	})
	if err != nil {
		return nil, memd.Errorf(memd.CodeStoreFailed, "%s: %v", path, err).
			WithHint("mend or delete the line; a deleted line revokes its fingerprint")
	}
	return list, nil
}

// parseKey reads the key at path.
func parseKey(path string, data []byte) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) < 32 {
		return nil, memd.Errorf(memd.CodeStoreFailed, "%s holds no key of 64 hexadecimal digits", path).
			WithHint("put the right one back; or delete the file, and the fingerprints in %s with it: a new key makes others",
				filepath.Join(filepath.Dir(path), AllowedFile))
	}
	return key, nil
}

// newKey returns 32 random bytes as hexadecimal digits.
func newKey() string {
	var key [32]byte
	rand.Read(key[:]) // never fails: it ends the process where the system has no randomness
	return hex.EncodeToString(key[:])
}

var fingerprintForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// check tells what is wrong with an entry, without repeating it: it may be the
// secret itself.
func (one Allowance) check() error {
	if !fingerprintForm.MatchString(one.Fingerprint) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "fingerprint", "fingerprint must be the 32 hexadecimal digits that a refusal or `memd log` names")
	}
	return label("reason", one.Reason, MaxReasonChars)
}
