package tiers

import (
	"time"

	"github.com/google/uuid"

	"memd"
	"memd/configs"
	"memd/guard"
	"memd/guard/secrets"
	"memd/guard/sources"
	"memd/store"
)

// Service applies the rules of the tiers to a store. It is safe for
// concurrent use and holds no state of its own but counts.
type Service struct {
	store   *store.Set
	budgets configs.Budgets
	owners  map[memd.Kind]string
	sources *sources.Checker // nil where nothing is looked at
	guard   configs.Guard
	allowed *guard.Allowed // nil where nothing is
	scanner *secrets.Scanner
	zone    *time.Location // that tells the day of a text; nil where no dates are put beside words
	onLook  func()         // nil but in tests: a guard looks at a text
	counts  *counts
}

// New makes a Service on an open store; it works under the store's budgets
// and clock.
func New(s *store.Set) *Service {
	service := &Service{store: s, budgets: s.Budgets(), counts: newCounts()}
	return service.WithGuard(configs.DefaultGuard()).WithDates(configs.DefaultDates())
}

// WithOwners returns a Service that gives long rows of a kind the owner named
// for it, where neither the write nor the head names one.
func (s *Service) WithOwners(owners map[string]string) *Service {
	owned := *s
	owned.owners = make(map[memd.Kind]string, len(owners))
	for kind, owner := range owners {
		owned.owners[memd.Kind(kind)] = owner
	}
	return &owned
}

// clockSkew is how far ahead of the daemon's clock a time may lie that claims
// the past.
const clockSkew = 5 * time.Minute

// newID returns a UUIDv7, so that ids sort by creation.
func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// need refuses a caller whose role does not reach.
func need(c memd.Caller, role memd.Role) error {
	if !c.Role.Includes(role) {
		return memd.Errorf(memd.CodeForbidden, "this needs the role %s", role)
	}
	return nil
}

// Namespace resolves a request's namespace: missing means default, and one
// the caller does not see is forbidden.
func Namespace(c memd.Caller, ns string) (string, error) {
	if ns == "" {
		ns = memd.DefaultNamespace
	}
	if !memd.ValidNamespace(ns) {
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "namespace",
			"namespace must be lower-case parts of [a-z0-9._-] joined by /, at most %d characters", memd.MaxNamespaceLen)
	}
	if !c.Sees(ns) {
		return "", memd.FieldErrorf(memd.CodeForbidden, "namespace", "the caller may not use this namespace").
			WithHint("name one of the token's namespaces in the request")
	}
	return ns, nil
}

// Namespaces resolves a list of namespaces, in its order and without
// repetition; an empty list means default.
func Namespaces(c memd.Caller, names []string) ([]string, error) {
	if len(names) == 0 {
		names = []string{memd.DefaultNamespace}
	}
	if len(names) > maxNamespaces {
		return nil, memd.FieldErrorf(memd.CodeInvalidRequest, "namespaces", "namespaces has more than %d entries", maxNamespaces)
	}
	seen := make(map[string]bool, len(names))
	out := make([]string, 0, len(names))
	for _, name := range names {
		ns, err := Namespace(c, name)
		if err != nil {
			return nil, err
		}
		if !seen[ns] {
			seen[ns] = true
			out = append(out, ns)
		}
	}
	return out, nil
}

// maxNamespaces bounds one request's namespaces.
const maxNamespaces = 64

// maySee reports whether the caller may see a row it named by id or key: its
// namespace is the caller's, it holds the row's access tags, and the row has
// not expired. A transient row also needs its session's owner: see Owns.
func maySee(c memd.Caller, m *memd.Memory, now memd.Time) bool {
	return mayKnow(c, m) && !expired(m, now)
}

// mayKnow is maySee without the row's time.
func mayKnow(c memd.Caller, m *memd.Memory) bool { return c.Sees(m.Namespace) && c.Holds(m.Access) }

func expired(m *memd.Memory, now memd.Time) bool {
	return !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(now.Time)
}

// Owns reports whether the caller may see the notes of a session that owner
// opened, by its identity: owner itself, and an administrator of all namespaces.
func Owns(c memd.Caller, owner string) bool {
	return c.Role.Includes(memd.RoleAdmin) && c.Namespaces == nil || owner != "" && owner == c.Identity()
}

// Present fills in what is derived when a row is shown at now: its age, and
// whether it is stale. A row is stale when groom marked it so, or when its
// last verification is older than its kind stays fresh.
func Present(m *memd.Memory, b configs.Budgets, now memd.Time) {
	m.Age = memd.AgeText(m.AgeDays(now))
	if m.Stale || m.Tier != memd.Long || m.VerifiedAt.IsZero() {
		return
	}
	if now.Sub(m.VerifiedAt.Time) > b.FreshFor(m.Kind) {
		m.Stale, m.StaleReason = true, memd.StaleAge
	}
}

// shown is m as a write answers it.
func (s *Service) shown(m memd.Memory, now memd.Time) memd.Written {
	Present(&m, s.budgets, now)
	m.RawContent = ""
	return memd.Written{Memory: m}
}

func notFound() error { return memd.Errorf(memd.CodeNotFound, "there is no such memory") }

func (s *Service) entry(c memd.Caller, action string, m *memd.Memory, at memd.Time) store.Entry {
	return store.Entry{At: at, Caller: c.Name, Action: action, ID: m.ID, Namespace: m.Namespace, MemoryKey: m.MemoryKey}
}
