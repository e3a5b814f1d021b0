package configs

import (
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"memd"
)

// Socket says who may use the unix socket beside the user that runs the daemon.
type Socket struct {
	// Peers maps a user id, in decimal, to what that user may do. Where it is
	// empty the socket is its owner's alone.
	Peers map[string]Peer `yaml:"peers"`
}

// Peer is what a user may do.
type Peer struct {
	Role       string   `yaml:"role"`
	Namespaces []string `yaml:"namespaces"` // those the user sees; empty: all
	Access     []string `yaml:"access"`     // the access tags the user holds
}

// Callers returns the peers as callers by user id, without names.
func (s Socket) Callers() map[uint32]memd.Caller {
	callers := make(map[uint32]memd.Caller, len(s.Peers))
	for uid, p := range s.Peers {
		n, err := strconv.ParseUint(uid, 10, 32)
		if err != nil { // a valid configuration has none
			continue
		}
		c := memd.Caller{Role: memd.Role(p.Role), Access: p.Access}
		if len(p.Namespaces) > 0 {
			c.Namespaces = p.Namespaces
		}
		callers[uint32(n)] = c
	}
	return callers
}

// unmapped is the user id under which Linux shows every user that has none in
// the daemon's user namespace: nobody in particular.
const unmapped = 65534

func (c Config) socketProblem() *problem { return c.Socket.problem(runtime.GOOS) }

// problem looks at the peers under an operating system of Go's name.
func (s Socket) problem(system string) *problem {
	for _, uid := range slices.Sorted(maps.Keys(s.Peers)) {
		key, p := "socket.peers."+uid, s.Peers[uid]
		n, err := strconv.ParseUint(uid, 10, 32)
		switch {
		case system != "linux":
			return problemf(key, "the user behind a connection can be told on Linux alone")
		case err != nil || strconv.FormatUint(n, 10) != uid || n == 1<<32-1:
			return problemf(key, "%.40q is no user id, such as 1001", uid)
		case n == 0:
			return problemf(key, "root is an administrator, for it may open every file")
		case n == unmapped:
			return problemf(key, "%d stands for every user that a container does not know", unmapped)
		}
		if bad := p.problem(key); bad != nil {
			return bad
		}
	}
	return nil
}

func (p Peer) problem(key string) *problem {
	if !memd.Role(p.Role).Valid() {
		bad := problemf(key+".role", "%.40q is none of %s, %s, %s", p.Role, memd.RoleRead, memd.RoleWrite, memd.RoleAdmin)
		bad.by = key
		return bad
	}
	for _, namespace := range p.Namespaces {
		if !memd.ValidNamespace(namespace) {
			return problemf(key+".namespaces", "%.140q is no namespace", namespace)
		}
	}
	for _, tag := range p.Access {
		if n := utf8.RuneCountInString(tag); strings.TrimSpace(tag) != tag || n == 0 || n > memd.MaxTagChars {
			return problemf(key+".access", "a tag has 1 to %d characters and no space at its ends", memd.MaxTagChars)
		}
	}
	return nil
}
