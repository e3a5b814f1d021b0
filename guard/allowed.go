package guard

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"memd"
	"memd/internal/atomicfile"
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
	dir string
	log *slog.Logger
	now func() time.Time
	key []byte

	mu   sync.Mutex
	file watch
	list []Allowance
	set  map[string]bool
}

// OpenAllowed reads the allow-list of a data directory, making the key of its
// fingerprints where there is none. Log may be nil. Files that others than their
// owner may open are refused.
func OpenAllowed(dir string, log *slog.Logger) (*Allowed, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a := &Allowed{dir: dir, log: log, now: time.Now}
	if err := a.makeKey(); err != nil {
		return nil, err
	}
	data, _, err := readPrivate(a.path(KeyFile), 4<<10)
	if err != nil {
		return nil, err
	}
	if a.key, err = hex.DecodeString(strings.TrimSpace(string(data))); err != nil || len(a.key) < 32 {
		return nil, memd.Errorf(memd.CodeInvalidRequest, "%s holds no key of 64 hexadecimal digits", a.path(KeyFile)).
			WithHint("put the right one back; or delete the file, and the fingerprints in %s with it: a new key makes others", a.path(AllowedFile))
	}
	return a, a.load()
}

func (a *Allowed) path(name string) string { return filepath.Join(a.dir, name) }

// makeKey writes a key where there is none.
func (a *Allowed) makeKey() error {
	if _, err := os.Lstat(a.path(KeyFile)); err == nil {
		return nil
	}
	unlock, err := lock(a.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Lstat(a.path(KeyFile)); err == nil {
		return nil
	}
	var key [32]byte
	rand.Read(key[:]) // never fails: it ends the process where the system has no randomness
	return atomicfile.WriteFile(a.path(KeyFile), []byte(hex.EncodeToString(key[:])+"\n"), 0o600)
}

// Key is what fingerprints are made with. It must not leave the process.
func (a *Allowed) Key() []byte { return a.key }

// Has reports whether a finding is let pass. It reads the file again when that
// changed, or may have. While it cannot be read, nothing passes.
func (a *Allowed) Has(fingerprint string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if changed := stampOf(a.path(AllowedFile)) != a.file.at; changed || a.file.young {
		if err := a.load(); err != nil && changed {
			a.log.Error("allow-list refused", "file", AllowedFile, "error", err)
		}
	}
	return a.set[fingerprint]
}

// List returns the entries, oldest first.
func (a *Allowed) List() ([]Allowance, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.load()
	return append([]Allowance{}, a.list...), err
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

// rewrite changes the file, alone among all processes while it does.
func (a *Allowed) rewrite(edit func([]Allowance) ([]Allowance, error)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	unlock, err := lock(a.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := a.load(); err != nil {
		return err
	}
	all, err := edit(a.list)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, one := range all {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	if err := atomicfile.WriteFile(a.path(AllowedFile), b.Bytes(), 0o600); err != nil {
		return err
	}
	return a.load()
}

// load reads the file. On an error nothing passes.
func (a *Allowed) load() error {
	data, at, err := readPrivate(a.path(AllowedFile), 4<<20)
	a.file, a.list, a.set = watched(at, a.now()), nil, nil
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := parseAllowed(data)
	if err != nil {
		return memd.Errorf(memd.CodeInvalidRequest, "%s: %v", a.path(AllowedFile), err).
			WithHint("mend or delete the line; a deleted line revokes its fingerprint")
	}
	a.list, a.set = list, make(map[string]bool, len(list))
	for _, one := range list {
		a.set[one.Fingerprint] = true
	}
	return nil
}

// parseAllowed reads an allow-list.
func parseAllowed(data []byte) ([]Allowance, error) {
	var list []Allowance
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var one Allowance
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		err := dec.Decode(&one)
		if err != nil || dec.More() {
			err = errors.New("this is no JSON object with fingerprint, reason and created_at")
		} else {
			err = one.check()
		}
		if err == nil && len(list) == MaxAllowed {
			err = fmt.Errorf("there are more than %d entries", MaxAllowed)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		list = append(list, one)
	}
	return list, nil
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
