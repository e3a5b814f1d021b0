package tiers

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
)

// text checks a field's encoding and length in code points.
func text(field, value string, max int) error {
	if err := clean(field, value); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(value); n > max {
		return memd.FieldErrorf(memd.CodeTooLarge, field, "%s has %d characters, at most %d are allowed", field, n, max)
	}
	return nil
}

// clean refuses what cannot be kept as it is.
func clean(field, value string) error {
	if !utf8.ValidString(value) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s is not valid UTF-8", field)
	}
	if strings.IndexByte(value, 0) >= 0 {
		return memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s holds a NUL character", field)
	}
	return nil
}

// summary checks the one field every memory needs.
func summary(value string, max int) error {
	if err := text("summary", value, max); err != nil {
		return err
	}
	if !visible(value) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "summary", "summary is blank")
	}
	return nil
}

// name checks an optional short label such as an owner or a session: visible,
// of one line.
func name(field, value string) error {
	if value == "" {
		return nil
	}
	if err := text(field, value, memd.MaxNameChars); err != nil {
		return err
	}
	if !visible(value) || strings.IndexFunc(value, unicode.IsControl) >= 0 {
		return memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s must be visible text of one line", field)
	}
	return nil
}

func (s *Service) raw(value string) error {
	if err := clean("raw_content", value); err != nil {
		return err
	}
	if max := s.budgets.RawBytes; int64(len(value)) > int64(max) {
		return memd.FieldErrorf(memd.CodeTooLarge, "raw_content", "raw_content has %d bytes, at most %d are allowed", len(value), max)
	}
	return nil
}

// tags checks a list of labels (tags or access) and returns it without
// repetition, never nil.
func tags(field string, values []string) ([]string, error) {
	if len(values) > memd.MaxTags {
		return nil, memd.FieldErrorf(memd.CodeTooLarge, field, "%s has %d entries, at most %d are allowed", field, len(values), memd.MaxTags)
	}
	out := make([]string, 0, len(values))
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if err := text(field, v, memd.MaxTagChars); err != nil {
			return nil, err
		}
		if !visible(v) || strings.IndexFunc(v, unicode.IsControl) >= 0 {
			return nil, memd.FieldErrorf(memd.CodeInvalidRequest, field, "every entry of %s must be visible text of one line", field)
		}
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out, nil
}

// access checks the access tags of a write: nobody writes what they could not
// read back.
func access(c memd.Caller, values []string) ([]string, error) {
	out, err := tags("access", values)
	if err == nil && !c.Holds(out) {
		err = memd.FieldErrorf(memd.CodeForbidden, "access", "the caller does not hold these access tags")
	}
	return out, err
}

func importance(value *int, otherwise int) (int, error) {
	if value == nil {
		return otherwise, nil
	}
	if *value < 1 || *value > 10 {
		return 0, memd.FieldErrorf(memd.CodeInvalidRequest, "importance", "importance must be 1 to 10")
	}
	return *value, nil
}

// kind checks a kind for a tier; "" is otherwise.
func kind(value, otherwise memd.Kind, t memd.Tier) (memd.Kind, error) {
	switch {
	case value == "":
		return otherwise, nil
	case !value.Valid():
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "kind", "kind is not one of %s", join(memd.AllKinds()))
	case t == memd.Long && !value.Durable():
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "kind", "kind %s does not fit the long tier", value)
	}
	return value, nil
}

func join[T ~string](values []T) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = string(v)
	}
	return strings.Join(parts, ", ")
}

// past checks a time that claims the past; zero is otherwise.
func past(field string, value, now memd.Time, otherwise memd.Time) (memd.Time, error) {
	if value.IsZero() {
		return otherwise, nil
	}
	if value.After(now.Add(clockSkew)) {
		return memd.Time{}, memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s lies in the future", field)
	}
	if value.UTC().Year() < memd.FirstYear {
		return memd.Time{}, memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s lies before %d", field, memd.FirstYear)
	}
	return value, nil
}

// future checks a time that lies ahead; zero is allowed and means never.
func future(field string, value, now memd.Time) error {
	if !value.IsZero() && !value.After(now.Time) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, field, "%s lies in the past", field)
	}
	return nil
}

func memoryKey(value string) error {
	if value == "" {
		return memd.FieldErrorf(memd.CodeMissingField, "memory_key", "memory_key is missing")
	}
	if !memd.ValidKey(value) {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "memory_key",
			"memory_key must be 1 to %d characters of [A-Za-z0-9._/-]", memd.MaxKeyLen)
	}
	return nil
}

// reasons checks why and how_to_apply, which some kinds cannot do without.
func reasons(k memd.Kind, why, how string) error {
	for _, f := range []struct{ field, value string }{{"why", why}, {"how_to_apply", how}} {
		if err := text(f.field, f.value, memd.MaxReasonChars); err != nil {
			return err
		}
		if k.Reasoned() && !visible(f.value) {
			return memd.FieldErrorf(memd.CodeMissingField, f.field, "kind %s needs %s", k, f.field)
		}
	}
	return nil
}
