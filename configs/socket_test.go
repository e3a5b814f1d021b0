package configs

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"memd"
)

func TestPeers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("peers are of Linux alone")
	}
	l := load(t, Options{Env: home(t), File: write(t, `socket:
  peers:
    1001: {role: read}
    4294967294:
      role: write
      namespaces: [project/memd, user]
      access: [hr]
    70000: {role: admin, namespaces: []}
`)})
	want := map[uint32]memd.Caller{
		1001:       {Role: memd.RoleRead},
		4294967294: {Role: memd.RoleWrite, Namespaces: []string{"project/memd", "user"}, Access: []string{"hr"}},
		70000:      {Role: memd.RoleAdmin, Access: nil},
	}
	if got := l.Socket.Callers(); !reflect.DeepEqual(got, want) {
		t.Errorf("Callers = %+v\nwant %+v", got, want)
	}
	var entries []string
	for _, e := range l.Entries() {
		if strings.HasPrefix(e.Key, "socket.") {
			entries = append(entries, e.Key+"="+e.Value+" "+e.Origin)
		}
	}
	if want := []string{
		"socket.peers.1001.role=read memd.yaml:3", "socket.peers.1001.namespaces= default", "socket.peers.1001.access= default",
		"socket.peers.4294967294.role=write memd.yaml:5", "socket.peers.4294967294.namespaces=project/memd,user memd.yaml:6",
		"socket.peers.4294967294.access=hr memd.yaml:7", "socket.peers.70000.role=admin memd.yaml:8",
		"socket.peers.70000.namespaces= memd.yaml:8", "socket.peers.70000.access= default",
	}; !slices.Equal(entries, want) {
		t.Errorf("Entries = %q\nwant %q", entries, want)
	}
}

// Who is behind a socket can be told on Linux alone; elsewhere nobody may be
// led to believe so.
func TestPeersElsewhere(t *testing.T) {
	s := Socket{Peers: map[string]Peer{"1001": {Role: "read"}}}
	if p := s.problem("linux"); p != nil {
		t.Errorf("on Linux: %+v", p)
	}
	for _, system := range []string{"darwin", "freebsd", "windows"} {
		if p := s.problem(system); p == nil || p.key != "socket.peers.1001" {
			t.Errorf("on %s: %+v", system, p)
		}
		if p := (Socket{}).problem(system); p != nil {
			t.Errorf("on %s without peers: %+v", system, p)
		}
	}
}
