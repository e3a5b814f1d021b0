package notes

import (
	"regexp"
	"slices"
)

// Claim is whose note a file seems to be that cannot be read as one: its lines of fields
// are looked at wherever they stand, as between the marks of a merge.
type Claim struct{ keys, namespaces []string }

var (
	claimedKey       = regexp.MustCompile(`(?m)^memory_key:[ \t]*["']?([A-Za-z0-9._/-]+)["']?[ \t]*\r?$`)
	claimedNamespace = regexp.MustCompile(`(?m)^namespace:[ \t]*["']?([a-z0-9._/-]+)["']?[ \t]*\r?$`)
)

// ClaimOf reads the claim of a file.
func ClaimOf(data []byte) Claim {
	return Claim{values(claimedKey, data), values(claimedNamespace, data)}
}

func values(form *regexp.Regexp, data []byte) (all []string) {
	for _, m := range form.FindAllSubmatch(data, 16) {
		all = append(all, string(m[1]))
	}
	return all
}

// IsZero reports whether a file claims nothing.
func (c Claim) IsZero() bool { return len(c.keys) == 0 }

// Of reports whether a file states the key, and no other namespace.
func (c Claim) Of(namespace, key string) bool {
	return slices.Contains(c.keys, key) && (len(c.namespaces) == 0 || slices.Contains(c.namespaces, namespace))
}
