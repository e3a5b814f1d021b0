package memd

import (
	"bytes"
	"encoding/json"
)

// Opt is a field that may be absent, null or a value: the three states a
// patch needs to tell apart. The zero Opt is absent.
type Opt[T any] struct {
	Set   bool // the field was there
	Null  bool // and it was null
	Value T
}

// Some is an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: v} }

// Null is an Opt that clears.
func Null[T any]() Opt[T] { return Opt[T]{Set: true, Null: true} }

// IsZero reports whether the field is absent, so that omitzero leaves it out.
func (o Opt[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value, or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Set || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON reads null or a value.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{Set: true}
	if bytes.Equal(b, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.Value)
}
