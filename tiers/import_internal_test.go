package tiers

import (
	"errors"
	"testing"

	"memd"
)

// What a rule refuses is the outcome of one record; what the store fails at, a full disk
// among it, ends the write whatever its code: nothing goes on in a transaction that is lost.
func TestRefusedBy(t *testing.T) {
	full := &memd.Error{Code: memd.CodeBudgetExceeded, Message: "the disk is full; nothing was written", Err: errors.New("database or disk is full")}
	for _, failure := range []error{full, errors.New("unknown"), memd.Errorf(memd.CodeStoreBusy, "busy"), memd.Errorf(memd.CodeStoreFailed, "failed")} {
		if out, err := refusedBy(memd.Imported{}, failure); err != failure {
			t.Errorf("%v: %+v, %v", failure, out, err)
		}
	}
	for _, refusal := range []error{memd.Errorf(memd.CodeBudgetExceeded, "all rows are in use"), memd.FieldErrorf(memd.CodeInvalidRequest, "id", "id is none"),
		&denied{err: memd.Errorf(memd.CodeSecretDetected, "not written down")}} {
		if out, err := refusedBy(memd.Imported{}, refusal); err != nil || out.Outcome != memd.Refused || out.Code != memd.CodeOf(errors.Unwrap(refusal)) && out.Code != memd.CodeOf(refusal) {
			t.Errorf("%v: %+v, %v", refusal, out, err)
		}
	}
}
