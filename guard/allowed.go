package guard

import (
	"crypto/rand"
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

// Allowed is the allow-list of one data directory. It is safe for concurrent use,
// also by several processes: what one changes is seen by the others at their next
// question.
type Allowed struct {
	log *slog.Logger
	now func() time.Time
	key []byte

	mu   sync.Mutex
	list file[[]Allowance]
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
	if err := key.create(func() string { return newKey() + "\n" }); err != nil {
		return nil, err
	}
	if err := key.load(a.now()); err != nil {
		return nil, err
	}
	a.key = key.holds
	return a, a.list.load(a.now())
}

func keyFile(dir string) file[[]byte] {
	path := filepath.Join(dir, KeyFile)
	return file[[]byte]{dir: dir, name: KeyFile, limit: 4 << 10, needed: true,
		parse: func(data []byte) ([]byte, error) { return parseKey(path, data) }}
}

func allowedFile(dir string) file[[]Allowance] {
	path := filepath.Join(dir, AllowedFile)
	return file[[]Allowance]{dir: dir, name: AllowedFile, limit: 4 << 20,
		parse: func(data []byte) ([]Allowance, error) { return parseAllowed(path, data) }}
}

// Key is what fingerprints are made with. It must not leave the process.
func (a *Allowed) Key() []byte { return a.key }

// Has reports whether a finding is let pass. It reads the file again when that
// changed, or may have. While it cannot be read, nothing passes.
func (a *Allowed) Has(fingerprint string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh()
	return slices.ContainsFunc(a.list.holds, func(one Allowance) bool { return one.Fingerprint == fingerprint })
}

// List returns the entries, oldest first.
func (a *Allowed) List() ([]Allowance, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh() // not load, see Tokens.List
	return append([]Allowance{}, a.list.holds...), a.list.fault
}

// refresh reads the file again where it changed since it was last read, or may have.
func (a *Allowed) refresh() {
	if err := a.list.refresh(a.now()); err != nil {
		a.log.Error("allow-list refused", "file", AllowedFile, "error", err)
	}
}

// Allow lets a finding pass from now on. For one that passes already the reason
// becomes the new one.
func (a *Allowed) Allow(fingerprint, reason string) (Allowance, error) {
	one := Allowance{Fingerprint: strings.ToLower(fingerprint), Reason: reason, CreatedAt: memd.At(a.now())}
	if err := one.check(); err != nil {
		return Allowance{}, err
	}
	return one, a.rewrite(func(all []Allowance) ([]Allowance, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(old Allowance) bool { return old.Fingerprint == one.Fingerprint })
		if len(left) >= MaxAllowed {
			return nil, memd.Errorf(memd.CodeBudgetExceeded, "%d findings are allowed already", MaxAllowed).
				WithHint("revoke what is not met any more, or allow a form of values in the configuration (guard.allow.values)")
		}
		return append(left, one), nil
	})
}

// Revoke lets a finding pass no more. One that does not pass is not found.
func (a *Allowed) Revoke(fingerprint string) error {
	return a.rewrite(func(all []Allowance) ([]Allowance, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(old Allowance) bool { return old.Fingerprint == strings.ToLower(fingerprint) })
		if len(left) == len(all) {
			return nil, memd.FieldErrorf(memd.CodeNotFound, "fingerprint", "this fingerprint is not allowed").
				WithHint("`memd guard list` shows those that are")
		}
		return left, nil
	})
}

// rewrite changes the file.
func (a *Allowed) rewrite(edit func([]Allowance) ([]Allowance, error)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return rewrite(&a.list, a.now(), edit)
}

// parseAllowed reads the allow-list at path.
func parseAllowed(path string, data []byte) ([]Allowance, error) {
	list, err := parseLines(data, func(line []byte, before []Allowance) (one Allowance, err error) {
		switch {
		case !readObject(line, &one):
			return one, errors.New("this is no JSON object with fingerprint, reason and created_at")
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
