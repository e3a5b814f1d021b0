package guard

import (
	"strconv"

	"memd"
)

// peerPrefix begins the names of callers that are known by their user id.
const peerPrefix = "uid:"

// Peers are the callers of a unix socket that others than its owner may open,
// by user id. A user that is not among them is nobody.
type Peers map[uint32]memd.Caller

// Caller returns who connected as the user uid, where own runs the daemon. That
// user and root may open every file of the data folder, so each of them is the
// administrator whatever p says.
func (p Peers) Caller(uid, own uint32) (memd.Caller, bool) {
	if uid == 0 || uid == own {
		return memd.LocalAdmin(), true
	}
	c, ok := p[uid]
	c.Name = peerPrefix + strconv.FormatUint(uint64(uid), 10)
	return c, ok
}
