package memd

import (
	"cmp"
	"slices"
)

// Role bounds what a caller may do.
type Role string

// Roles, each including the one before it.
const (
	RoleRead  Role = "read"  // GET of memories and keys, recall, context, manifest, why
	RoleWrite Role = "write" // + writes, verify, promote, archive, hit, forget, sessions
	RoleAdmin Role = "admin" // everything
)

var roleRank = map[Role]int{RoleRead: 1, RoleWrite: 2, RoleAdmin: 3}

// Valid reports whether r is a known role.
func (r Role) Valid() bool { return roleRank[r] > 0 }

// Includes reports whether a caller of role r may do what needs role need.
func (r Role) Includes(need Role) bool { return roleRank[r] >= roleRank[need] && need.Valid() }

// Caller is who asks. Every call into tiers and recall takes one.
type Caller struct {
	Name       string   // unique among callers at a time
	ID         string   // unlike that of whoever had the name before; "" where the name is nobody else's ever
	Role       Role     //
	Namespaces []string // the namespaces it sees; nil means all
	Access     []string // the access tags it holds
	AllAccess  bool     // holds every access tag
}

// LocalAdmin is the caller behind the unix socket and the in-process command
// line: whoever can open the file is the administrator.
func LocalAdmin() Caller { return Caller{Name: "local", Role: RoleAdmin, AllAccess: true} }

// Identity is what the caller's sessions and repeated writes are kept under: a
// name may be given anew, to somebody else.
func (c Caller) Identity() string { return cmp.Or(c.ID, c.Name) }

// Sees reports whether the caller may touch namespace ns.
func (c Caller) Sees(ns string) bool {
	return c.Namespaces == nil || slices.Contains(c.Namespaces, ns)
}

// Holds reports whether the caller holds every tag of access.
func (c Caller) Holds(access []string) bool {
	if c.AllAccess {
		return true
	}
	for _, tag := range access {
		if !slices.Contains(c.Access, tag) {
			return false
		}
	}
	return true
}

// Held returns those of the named access tags that the caller holds.
func (c Caller) Held(named []string) []string {
	held := make([]string, 0, len(named))
	for _, tag := range named {
		if c.Holds([]string{tag}) {
			held = append(held, tag)
		}
	}
	return held
}
