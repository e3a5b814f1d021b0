package tiers

import (
	"encoding/hex"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"memd"
	"memd/configs"
	"memd/guard/fence"
	"memd/guard/sources"
)

// Bounds on what a record may say that no write ever sets.
const (
	maxVersion  = 1 << 30
	maxAccesses = 1 << 30
)

// arrive checks a record by every rule that needs neither the store nor a guard.
func (s *Service) arrive(c memd.Caller, rec memd.Record, now memd.Time) arrival {
	a := arrival{rec: rec}
	switch rec.Type {
	case memd.MemoryRecord:
		a.m = rec.Memory()
		a.wrong = s.arriving(c, &a, now)
	case memd.KeyRecord:
		a.wrong = firstOf(plain(rec, memd.Record{Type: rec.Type, Namespace: rec.Namespace, MemoryKey: rec.MemoryKey, Version: rec.Version}),
			inNamespace(c, rec.Namespace), memoryKey(rec.MemoryKey), versionOf(rec.Version))
	case memd.TombstoneRecord:
		a.wrong = firstOf(plain(rec, memd.Record{Type: rec.Type, ID: rec.ID, Namespace: rec.Namespace, MemoryKey: rec.MemoryKey,
			ContentHash: rec.ContentHash, ForgottenAt: rec.ForgottenAt}), inNamespace(c, rec.Namespace), idOf(rec.ID), optionalKey(rec.MemoryKey),
			hashOf("content_hash", rec.ContentHash), needTime("forgotten_at", rec.ForgottenAt, now))
	default:
		a.wrong = memd.FieldErrorf(memd.CodeInvalidRequest, "type", "type is not one of %s", join(memd.RecordTypes()))
	}
	if a.wrong != nil || rec.Type != memd.MemoryRecord {
		return a
	}
	if fence.Made(a.m.Summary, a.m.RawContent, a.m.Why, a.m.HowToApply) {
		a.wrong = memd.Errorf(memd.CodeInvalidRequest, "it holds a context that memd made, which is not stored again")
		return a
	}
	a.m.ContentHash = ContentHash(&a.m)
	a.sent = a.m.ContentHash
	return a
}

// guarded has the guards look at a record: within the write nobody waits for them. Names
// that no other write takes from outside are labels as a key is.
func (s *Service) guarded(a *arrival) {
	if a.wrong != nil {
		return
	}
	if a.rec.Type != memd.MemoryRecord {
		a.m = memd.Memory{Tier: memd.Long, Namespace: a.rec.Namespace, MemoryKey: a.rec.MemoryKey}
		a.in = s.inspectFields(&a.m, fieldsOf(&a.m))
		return
	}
	a.m.Tags, a.m.Access = slices.Clone(a.m.Tags), slices.Clone(a.m.Access)
	if a.m.Tier == memd.Transient {
		a.in = s.inspectFields(&a.m, fieldsOf(&a.m))
	} else {
		a.in = s.inspect(&a.m)
	}
	if a.in.refused == nil {
		names := []field{{"verified_by", &a.m.VerifiedBy, true, true}, {"session_owner", &a.rec.SessionOwner, true, true}}
		names = slices.DeleteFunc(names, func(f field) bool { return *f.text == "" })
		a.in.refused = s.inspectFields(&memd.Memory{Tier: a.m.Tier, Namespace: a.m.Namespace}, names).refused
	}
	if a.in.changed {
		a.m.Tags = union([]string{}, a.m.Tags)
		rehash(&a.m)
	}
}

// plain refuses a record with fields that one of its type, which bare is, does not have.
func plain(rec, bare memd.Record) error {
	if !reflect.DeepEqual(rec, bare) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "type", "a record of type %s has no such fields", rec.Type)
	}
	return nil
}

// arriving checks the fields of a row, and gives those that are absent their values.
func (s *Service) arriving(c memd.Caller, a *arrival, now memd.Time) error {
	m, rec := &a.m, &a.rec
	if !m.Tier.Valid() {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "tier", "tier is not one of %s", join(memd.AllTiers()))
	}
	if m.Namespace == "" {
		m.Namespace = memd.DefaultNamespace
	}
	otherwise := memd.Event
	if m.Tier == memd.Long {
		otherwise = memd.Fact
	}
	var err error
	check := func(e error) {
		if err == nil {
			err = e
		}
	}
	check(inNamespace(c, m.Namespace))
	if m.ID != "" || m.Tier == memd.Transient {
		check(idOf(m.ID))
	}
	var e error
	m.Kind, e = kind(m.Kind, otherwise, m.Tier)
	check(e)
	given := &m.Importance
	if m.Importance == 0 {
		given = nil
	}
	m.Importance, e = importance(given, memd.DefaultImportance)
	check(e)
	m.Tags, e = tags("tags", m.Tags)
	check(e)
	m.Access, e = access(c, m.Access)
	check(e)
	check(summary(m.Summary, s.arrivalLimit(m)))
	check(s.raw(m.RawContent))
	check(s.reasonsOf(m))
	check(name("owner", m.Owner))
	check(name("agent", m.Agent))
	check(name("session_id", m.SessionID))
	check(name("session_owner", rec.SessionOwner))
	check(name("verified_by", m.VerifiedBy))
	check(s.arrivalSource(m, rec))
	check(arrivalKey(m, rec))
	check(arrivalTimes(m, rec, now))
	if err == nil && m.Tier == memd.Transient {
		err = s.arrivalNote(m, now)
	}
	if err == nil && m.Tier == memd.Long {
		m.VerifiedBy = first(m.VerifiedBy, c.Name)
		if m.ID == "" {
			m.Owner = first(m.Owner, s.owners[m.Kind])
		}
	}
	return err
}

// arrivalLimit is how long a summary may be: an archived row with a key was a long one.
func (s *Service) arrivalLimit(m *memd.Memory) int {
	if m.Tier == memd.Archive && m.MemoryKey != "" {
		return s.budgets.LongChars
	}
	return s.summaryLimit(m)
}

// reasonsOf checks why and how_to_apply, which a short row can do without whatever its
// kind.
func (s *Service) reasonsOf(m *memd.Memory) error {
	k := m.Kind
	if m.Tier != memd.Long {
		k = memd.Fact
	}
	return reasons(k, m.Why, m.HowToApply)
}

func (s *Service) arrivalSource(m *memd.Memory, rec *memd.Record) error {
	check := source
	if m.Tier == memd.Long {
		check = durableSource
	}
	if err := check(m.Source, m.Kind); err != nil {
		return err
	}
	if m.SourceStatus == "" {
		m.SourceStatus = statusOf(m.Source)
	}
	switch m.SourceStatus {
	case memd.SourceOK, memd.SourceMissing, memd.SourceChanged, memd.SourceUnchecked:
	case memd.SourceNone:
		m.SourceStatus = statusOf(m.Source)
	default:
		return memd.FieldErrorf(memd.CodeInvalidRequest, "source_status", "source_status is not one of ok, missing, changed, unchecked, none")
	}
	switch m.StaleReason {
	case "", memd.StaleAge, memd.StaleSourceMissing, memd.StaleSourceChanged:
	default:
		return memd.FieldErrorf(memd.CodeInvalidRequest, "stale_reason", "stale_reason is not one of age, source_missing, source_changed")
	}
	if !m.Stale {
		m.StaleReason = ""
	}
	if rec.SourceHash == "" || m.Tier != memd.Long {
		rec.SourceHash = ""
		return nil
	}
	if rec.SourceHash == sources.Lacking {
		return nil
	}
	return hashOf("source_hash", rec.SourceHash)
}

// arrivalKey checks a key with what a record says of its versions.
func arrivalKey(m *memd.Memory, rec *memd.Record) error {
	keyed := m.Tier == memd.Long || m.Tier == memd.Archive && m.MemoryKey != ""
	switch {
	case !keyed && m.MemoryKey != "":
		return memd.FieldErrorf(memd.CodeInvalidRequest, "memory_key", "a memory of the tier %s has no memory_key", m.Tier)
	case !keyed && (m.Version != 0 || rec.SupersededBy != ""), m.Tier != memd.Long && (rec.IsHead || len(rec.Supersedes) > 0):
		return memd.FieldErrorf(memd.CodeInvalidRequest, "version", "a memory of the tier %s without a key has no versions", m.Tier)
	case !keyed:
		return nil
	}
	if rec.ID == "" && m.Version == 0 {
		m.Version = 1
	}
	if err := firstOf(memoryKey(m.MemoryKey), versionOf(m.Version)); err != nil {
		return err
	}
	if len(rec.Supersedes) > memd.MaxSupersedes {
		return memd.FieldErrorf(memd.CodeTooLarge, "supersedes", "supersedes has %d entries, at most %d are allowed", len(rec.Supersedes), memd.MaxSupersedes)
	}
	return nil
}

// arrivalTimes checks times that claim the past, and gives those that are absent their
// values.
func arrivalTimes(m *memd.Memory, rec *memd.Record, now memd.Time) error {
	if len(rec.Hits) > memd.MaxHits || len(rec.Hits) > 0 && m.Kind != memd.Pitfall {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "hits", "hits are of a pitfall, at most %d", memd.MaxHits)
	}
	if m.AccessCount < 0 || m.AccessCount > maxAccesses {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "access_count", "access_count must be 0 to %d", maxAccesses)
	}
	for _, hit := range rec.Hits {
		if err := needTime("hits", hit, now); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name          string
		at, otherwise *memd.Time
	}{
		{"created_at", &m.CreatedAt, &now},
		{"written_at", &m.WrittenAt, &m.CreatedAt},
		{"updated_at", &m.UpdatedAt, &m.WrittenAt},
		{"verified_at", &m.VerifiedAt, &memd.Time{}},
		{"last_accessed_at", &m.LastAccessedAt, &memd.Time{}},
		{"resolved_at", &m.ResolvedAt, &memd.Time{}},
	} {
		var err error
		if *f.at, err = past(f.name, *f.at, now, *f.otherwise); err != nil { // in this order: each is the next one's
			return err
		}
	}
	if m.Tier == memd.Long && m.VerifiedAt.IsZero() {
		m.VerifiedAt = m.WrittenAt
	}
	return nil
}

// arrivalNote checks what a transient row cannot do without.
func (s *Service) arrivalNote(m *memd.Memory, now memd.Time) error {
	if err := sessionID(m.SessionID); err != nil {
		return err
	}
	if m.ExpiresAt.IsZero() {
		m.ExpiresAt = memd.At(m.WrittenAt.Add(s.budgets.TransientTTL))
	}
	if m.ExpiresAt.After(now.Add(configs.MaxTransientTTL)) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "expires_at", "a note expires within %s", configs.MaxTransientTTL)
	}
	return nil
}

func inNamespace(c memd.Caller, namespace string) error {
	_, err := Namespace(c, namespace)
	return err
}

// idOf checks an id: a UUIDv7 in lower case, since ids sort by creation.
func idOf(id string) error {
	parsed, err := uuid.Parse(id)
	if id == "" {
		return memd.FieldErrorf(memd.CodeMissingField, "id", "id is missing")
	}
	if err != nil || parsed.String() != id || parsed.Version() != 7 {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "id", "id is no UUIDv7 in lower case")
	}
	return nil
}

func optionalKey(key string) error {
	if key == "" {
		return nil
	}
	return memoryKey(key)
}

func versionOf(version int) error {
	if version < 1 || version > maxVersion {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "version", "version must be 1 to %d", maxVersion)
	}
	return nil
}

func hashOf(field, hash string) error {
	digits, ok := strings.CutPrefix(hash, "sha256:")
	if sum, err := hex.DecodeString(digits); !ok || err != nil || len(sum) != 32 || strings.ToLower(digits) != digits {
		return memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s must be sha256: and 64 hexadecimal digits", field)
	}
	return nil
}

func needTime(field string, at, now memd.Time) error {
	if at.IsZero() {
		return memd.FieldErrorf(memd.CodeMissingField, field, "%s is missing", field)
	}
	_, err := past(field, at, now, memd.Time{})
	return err
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
