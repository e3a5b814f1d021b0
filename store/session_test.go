package store_test

import (
	"fmt"
	"testing"
	"time"

	"memd"
	"memd/internal/memtest"
	"memd/store"
)

// A caller that opens ever new sessions does not fill the disk with them: of those that
// hold no note the newest stay. One with a note stays, however old it is, for without it
// the note would be anybody's.
func TestEmptySessionsAreBounded(t *testing.T) {
	s := memtest.Store(t, "", nil, small)
	at := memd.At(memtest.NewClock().Now())
	write(t, s, func(tx *store.Tx) error { return tx.OpenSession("held", "first", at) })
	note := row(memd.Transient, 1, "a note")
	note.SessionID = "held"
	put(t, s, note)

	most := s.EmptySessionsMost()
	newest := ""
	for n := range 4 * most {
		newest = fmt.Sprint("session ", n)
		later := memd.At(at.Add(time.Duration(n+1) * time.Millisecond))
		write(t, s, func(tx *store.Tx) error { return tx.OpenSession(newest, "other", later) })
	}
	var held, last string
	write(t, s, func(tx *store.Tx) (err error) {
		if held, err = tx.SessionOwner("held"); err == nil {
			last, err = tx.SessionOwner(newest)
		}
		return err
	})
	if held != "first" || last != "other" {
		t.Errorf("owners of the session with a note and of the newest: %q, %q", held, last)
	}
	var left int64
	if _, err := fmt.Sscan(shell(t, s.Dir(), `SELECT count(*) - 1 FROM session`), &left); err != nil {
		t.Fatal(err)
	}
	if left < most || left > most+store.OpeningsLook+1 {
		t.Errorf("%d sessions without a note are left, want %d to %d", left, most, most+store.OpeningsLook+1)
	}
}

// Under a clock that was put back a session that is being opened is the oldest of all,
// and stays.
func TestOpeningUnderAClockPutBack(t *testing.T) {
	s := memtest.Store(t, "", nil, small)
	at := memd.At(memtest.NewClock().Now())
	for n := range 4 * s.EmptySessionsMost() {
		name := fmt.Sprint("session ", n)
		earlier := memd.At(at.Add(-time.Duration(n) * time.Second))
		write(t, s, func(tx *store.Tx) error {
			if err := tx.OpenSession(name, "me", earlier); err != nil {
				return err
			}
			if owner, err := tx.SessionOwner(name); owner != "me" {
				t.Errorf("the owner of %s is %q, %v", name, owner, err)
			}
			return nil
		})
	}
}
