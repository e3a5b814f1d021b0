package mcp

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"memd"
	"memd/api/client"
)

// Defaults are what a session's client does not say with every call.
type Defaults struct {
	Agent   string   // its name: reads agent/<name> first and writes there; "" for none
	Project string   // id of the project, with or without "project/"; "" for none
	Access  []string // access tags that reads name
}

// Check refuses names that can be no namespace.
func (d Defaults) Check() error {
	for field, ns := range map[string]string{"agent": d.agent(), "project": d.project()} {
		if ns != "" && !memd.ValidNamespace(ns) {
			return memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s must be lower-case letters, digits and . _ -", field)
		}
	}
	if len(d.Access) > memd.MaxTags {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "access", "access has more than %d entries", memd.MaxTags)
	}
	return nil
}

func (d Defaults) agent() string   { return within("agent/", d.Agent) }
func (d Defaults) project() string { return within("project/", d.Project) }

func within(prefix, name string) string {
	if name == "" {
		return ""
	}
	return prefix + strings.TrimPrefix(name, prefix)
}

// userNamespace holds what is known of the person, in every project.
const userNamespace = "user"

// reads are the namespaces that are read where none is named, in order of
// precedence.
func (d Defaults) reads() []string {
	all := []string{d.agent(), d.project(), userNamespace, memd.DefaultNamespace}
	return slices.DeleteFunc(all, func(ns string) bool { return ns == "" })
}

// writes is the namespace that is written where none is named.
func (d Defaults) writes() string {
	for _, ns := range []string{d.agent(), d.project()} {
		if ns != "" {
			return ns
		}
	}
	return memd.DefaultNamespace
}

// reads are the namespaces that this session reads where none is named: those of
// its defaults that its caller sees.
func (s *Server) reads() []string {
	s.mu.Lock()
	seen, all := s.seen, s.opts.reads()
	s.mu.Unlock()
	if seen != nil {
		return seen
	}
	if s.opts.Caller != nil {
		c := s.opts.Caller()
		all = slices.DeleteFunc(all, func(ns string) bool { return !c.Sees(ns) })
		if len(all) == 0 && len(c.Namespaces) == 1 {
			return slices.Clone(c.Namespaces)
		}
	}
	if len(all) == 0 {
		all = []string{memd.DefaultNamespace} // which REST refuses, and says what to do
	}
	return all
}

// writes is the namespace that is written where none is named: that of the defaults,
// or the only one of a caller who sees none of the defaults.
func (s *Server) writes() string {
	d := s.defaults()
	if s.opts.Caller != nil {
		c := s.opts.Caller()
		if len(c.Namespaces) == 1 && !slices.ContainsFunc(d.reads(), c.Sees) {
			return c.Namespaces[0]
		}
	}
	return d.writes()
}

// habits says what the session reads and writes where no namespace is named, and
// which ones its caller may name where those are not all.
func (s *Server) habits() string {
	reads, writes, own := s.reads(), s.writes(), s.ownNamespaces()
	said := "reads " + strings.Join(reads, ", ") + " (the first wins)"
	if own != "" && !s.opts.Caller().Sees(reads[0]) {
		said = "reads what a call names as its namespace"
	}
	if own != "" && !s.opts.Caller().Sees(writes) {
		writes = "where a call names one"
	}
	if said += " and writes " + writes; own != "" {
		said += ". Its token sees " + own + " alone"
	}
	if s.asksRoots() {
		said += ". Where a root of the client is a project, its project/<id> is read before user"
		if s.opts.Agent == "" {
			said += " and written instead"
		}
	}
	return said
}

// maxOwn bounds the namespaces of a caller that are said to it, in characters.
const maxOwn = memd.MaxNamespaceLen

// ownNamespaces are the namespaces of a caller who does not see all, as many as there
// is room for; "" where that is not known.
func (s *Server) ownNamespaces() string {
	if s.opts.Caller == nil {
		return ""
	}
	said, names := "", s.opts.Caller().Namespaces
	for i, ns := range names {
		if i > 0 && len(said)+len(ns) > maxOwn {
			return said + " and " + strconv.Itoa(len(names)-i) + " more"
		}
		if i > 0 {
			said += ", "
		}
		said += ns
	}
	return said
}

// reading runs a read in the namespaces named, or else in the default ones. Where
// the caller turns out not to see all of those, it runs again without them.
func reading[T any](ctx context.Context, s *Server, c *client.Client, named []string, run func(namespaces []string) (T, error)) (T, error) {
	if len(named) > 0 {
		return run(named)
	}
	names := s.reads()
	out, err := run(names)
	e := refusalOf(ctx, err)
	if err == nil || e.Code != memd.CodeForbidden || e.Field == "" || s.opts.Caller != nil {
		return out, err
	}
	var seen []string
	for _, ns := range names {
		if _, err := c.List(ctx, memd.List{Namespace: ns, Limit: 1}); err == nil {
			seen = append(seen, ns)
		}
	}
	if len(seen) == 0 || len(seen) == len(names) {
		return out, err
	}
	s.mu.Lock()
	s.seen = seen
	s.mu.Unlock()
	return run(seen)
}
