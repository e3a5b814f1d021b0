package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"memd"
)

// Store is where records go. It answers for each of them, in their order.
type Store interface {
	Import(ctx context.Context, records []json.RawMessage, dry bool) ([]memd.Imported, error)
}

// Bounds of one call: what a request's body may hold, and what another writer may wait
// for.
const (
	callRecords = 256
	callBytes   = 512 << 10
)

// Sender sends records to a store, some at a time. Flush it at the end.
type Sender struct {
	store Store
	dry   bool
	done  func(number int, text []byte, out memd.Imported) error

	numbers []int
	records []json.RawMessage
	bytes   int
}

// NewSender calls done for every record, once the store has answered, with the number and
// the text under which it was added.
func NewSender(store Store, dry bool, done func(number int, text []byte, out memd.Imported) error) *Sender {
	return &Sender{store: store, dry: dry, done: done}
}

// Add sends a record, which is one JSON object. It keeps no part of text.
func (s *Sender) Add(ctx context.Context, number int, text []byte) error {
	if s.bytes > 0 && s.bytes+len(text) > callBytes {
		if err := s.Flush(ctx); err != nil {
			return err
		}
	}
	s.numbers = append(s.numbers, number)
	s.records = append(s.records, bytes.Clone(text))
	if s.bytes += len(text); len(s.records) < callRecords {
		return nil
	}
	return s.Flush(ctx)
}

// AddRecord is Add for a record that was made here.
func (s *Sender) AddRecord(ctx context.Context, number int, rec memd.Record) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rec); err != nil {
		return err
	}
	return s.Add(ctx, number, bytes.TrimSpace(text.Bytes()))
}

// Flush sends what is left.
func (s *Sender) Flush(ctx context.Context) error {
	err := s.send(ctx, s.numbers, s.records)
	s.numbers, s.records, s.bytes = s.numbers[:0], s.records[:0], 0
	return err
}

// send sends some records. A store that refuses the whole call does so for one of them,
// which is found by halves.
func (s *Sender) send(ctx context.Context, numbers []int, records []json.RawMessage) error {
	if len(records) == 0 {
		return nil
	}
	outcomes, err := s.store.Import(ctx, records, s.dry)
	refusal, ok := errors.AsType[*memd.Error](err)
	switch {
	case err == nil && len(outcomes) != len(records):
		return memd.Errorf(memd.CodeStoreFailed, "the store answered for %d records of %d", len(outcomes), len(records))
	case err == nil:
	case !ok || !ofTheRecords(refusal.Code):
		return err
	case len(records) == 1:
		outcomes = []memd.Imported{{Outcome: memd.Refused, Code: refusal.Code, Field: refusal.Field, Reason: refusal.Message, Hint: refusal.Hint}}
	default:
		half := len(records) / 2
		if err := s.send(ctx, numbers[:half], records[:half]); err != nil {
			return err
		}
		return s.send(ctx, numbers[half:], records[half:])
	}
	for i, out := range outcomes {
		if err := s.done(numbers[i], records[i], out); err != nil {
			return err
		}
	}
	return nil
}

// ofTheRecords reports whether a call was refused for what it held.
func ofTheRecords(code memd.Code) bool {
	return code == memd.CodeInvalidRequest || code == memd.CodeTooLarge
}
