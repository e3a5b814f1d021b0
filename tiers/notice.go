package tiers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memd"
	"memd/configs"
	"memd/guard"
	"memd/store"
)

// What is kept in meta of what was noticed last: names, each with a digest of what
// stood behind it.
const (
	noticedConfig = "noticed_config"
	noticedTokens = "noticed_tokens"
	noticedPasses = "noticed_allowed"
)

// maxNoticed bounds the entries, or the names in one, of one look.
const maxNoticed = 50

// changes are the names that came, went and stand for something else.
type changes struct{ added, removed, changed []string }

// notice compares what stands with what was noticed last under a key of meta, and
// logs the entries that say makes of the differences.
func (s *Service) notice(ctx context.Context, key string, stands map[string]string, say func(changes) []store.Entry) error {
	kept, err := json.Marshal(stands) // keys are sorted
	if err != nil {
		return err
	}
	var last string
	err = s.store.View(ctx, func(v *store.View) (err error) {
		last, err = v.Meta(key)
		return err
	})
	if err != nil || cmp.Or(last, "{}") == string(kept) {
		return err
	}
	before := map[string]string{}
	_ = json.Unmarshal([]byte(last), &before) // what is not readable was never noticed
	var d changes
	for _, name := range slices.Sorted(maps.Keys(stands)) {
		switch was, known := before[name]; {
		case !known:
			d.added = append(d.added, name)
		case was != stands[name]:
			d.changed = append(d.changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, left := stands[name]; !left {
			d.removed = append(d.removed, name)
		}
	}
	now := s.store.Now()
	return s.store.Update(ctx, func(tx *store.Tx) error {
		for _, e := range say(d) {
			e.At = now
			if err := tx.Audit(e); err != nil {
				return err
			}
		}
		return tx.SetMeta(key, string(kept), now)
	})
}

// NoticeConfig logs the names of the keys whose values are others than at the last
// start; a key that is not set stands for its default. No value is kept, only a
// digest of it.
func (s *Service) NoticeConfig(ctx context.Context, entries []configs.Entry) error {
	set := map[string]string{}
	for _, e := range entries {
		if e.Origin != configs.FromDefault {
			set[e.Key] = digest(e.Key + "\x00" + e.Value)
		}
	}
	return s.notice(ctx, noticedConfig, set, func(d changes) []store.Entry {
		names := slices.Sorted(slices.Values(slices.Concat(d.added, d.removed, d.changed)))
		if len(names) == 0 {
			return nil
		}
		return []store.Entry{{Caller: "memd", Action: "configure", Detail: some(names), Count: len(names)}}
	})
}

// NoticeTokens logs the names of tokens that came, went or were made anew: whoever
// holds the folder changes their file, with and without a daemon.
func (s *Service) NoticeTokens(ctx context.Context, tokens []guard.Token) error {
	stand := map[string]string{}
	for _, t := range tokens {
		text, err := json.Marshal(t)
		if err != nil {
			return err
		}
		stand[t.Name] = digest(string(text))
	}
	return s.notice(ctx, noticedTokens, stand, func(d changes) []store.Entry {
		return d.entries("token_new", "token_change", "token_revoke")
	})
}

// NoticeAllowed logs the fingerprints that came to the allow-list of secrets, and
// went from it.
func (s *Service) NoticeAllowed(ctx context.Context, list []guard.Allowance) error {
	stand := map[string]string{}
	for _, one := range list {
		stand[one.Fingerprint] = digest(one.Reason)
	}
	return s.notice(ctx, noticedPasses, stand, func(d changes) []store.Entry {
		return d.entries("allow_new", "allow_change", "allow_revoke")
	})
}

// entries name what came, changed and went, which whoever holds the folder did.
func (d changes) entries(came, changed, went string) (all []store.Entry) {
	for _, of := range []struct {
		action string
		names  []string
	}{{came, d.added}, {changed, d.changed}, {went, d.removed}} {
		for i, name := range of.names {
			e := store.Entry{Caller: memd.LocalAdmin().Name, Action: of.action, Detail: name}
			if i == maxNoticed-1 && i < len(of.names)-1 {
				rest := of.names[i:]
				e.Detail, e.Count = fmt.Sprintf("%s and %d more", name, len(rest)-1), len(rest)
				all = append(all, e)
				break
			}
			all = append(all, e)
		}
	}
	return all
}

// some are the first of many names.
func some(names []string) string {
	if more := len(names) - maxNoticed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNoticed], " "), more)
	}
	return strings.Join(names, " ")
}

// digest tells one value from another, and nothing else of it.
func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:8])
}
