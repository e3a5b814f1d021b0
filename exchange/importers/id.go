package importers

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"

	"memd"
)

// ID is the UUIDv7 of what happened at a time: that time, and of the hash of parts
// what a UUID has room for. So the same entry has the same id in every import. Where
// nobody knows the time it counts as 1970: a file's date may change.
func ID(at memd.Time, parts ...string) string {
	var ms [8]byte
	if !at.IsZero() {
		binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	}
	return made([6]byte(ms[2:]), parts)
}

// after is the id of a row that says more than the one of an id does: of the same time.
func after(id, content string) string {
	before, err := uuid.Parse(id)
	if err != nil {
		before = uuid.UUID{}
	}
	return made([6]byte(before[:6]), []string{id, content})
}

func made(time [6]byte, parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint32(len(p))) // a hash takes all
		h.Write([]byte(p))
	}
	var id uuid.UUID
	copy(id[6:], h.Sum(nil))
	copy(id[:6], time[:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
