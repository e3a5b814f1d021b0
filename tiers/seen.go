package tiers

import (
	"context"
	"errors"
	"slices"

	"memd"
	"memd/store"
)

// changing is what a write does to the row that it is of.
type changing func(tx *store.Tx, m *memd.Memory, now memd.Time) error

// failing is a write that is found wrong before it begins. It says so in its turn:
// after an earlier one of the same Idempotency-Key, and to who may see the row.
func failing(err error) changing {
	return func(*store.Tx, *memd.Memory, memd.Time) error { return err }
}

// errOther ends a write of a row that is another than was looked at.
var errOther = errors.New("the row has changed since it was looked at")

// maxLooks is how often a row is looked at before the write gives up.
const maxLooks = 5

// changeSeen is change for a write that the guards look at first: look gets the row
// as it stands, and returns what is done to it if it is still that in the write;
// else it is looked at again. So the writer waits for no guard and no file.
func (s *Service) changeSeen(ctx context.Context, c memd.Caller, id string, out *memd.Written, look func(row memd.Memory) changing) error {
	for range maxLooks {
		row, err := s.peek(ctx, c, id)
		if err != nil {
			return err
		}
		rehash(&row)
		var fn changing
		if row.ID != "" {
			fn = look(row)
		}
		err = s.change(ctx, c, id, out, func(tx *store.Tx, m *memd.Memory, now memd.Time) error {
			if !sameRow(&row, m) {
				return errOther
			}
			return fn(tx, m, now)
		})
		if !errors.Is(err, errOther) {
			return err
		}
	}
	return memd.Errorf(memd.CodeStoreBusy, "the memory is being changed by others").WithHint("try again in a second")
}

// sameRow reports whether two readings of a row agree in all that a guard looks at or
// goes by.
func sameRow(a, b *memd.Memory) bool {
	return a.ID == b.ID && a.Tier == b.Tier && a.Namespace == b.Namespace && a.MemoryKey == b.MemoryKey && a.Kind == b.Kind &&
		a.ContentHash == b.ContentHash && a.UpdatedAt.Equal(b.UpdatedAt.Time) && a.VerifiedAt.Equal(b.VerifiedAt.Time) && a.WrittenAt.Equal(b.WrittenAt.Time) &&
		a.Source == b.Source && a.Owner == b.Owner && a.SessionID == b.SessionID && a.Agent == b.Agent && a.Importance == b.Importance &&
		slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Access, b.Access)
}
