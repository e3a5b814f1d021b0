package main

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// A key that every user may open is warned of at the start and found by the doctor;
// one of a group is not.
func TestLooseKey(t *testing.T) {
	b := newBox(t)
	cert, key := certificate(t)
	for mode, loose := range map[os.FileMode]bool{0o644: true, 0o604: true, 0o640: false, 0o600: false} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		plain := b.env
		b.env = append(b.env, "MEMD_TLS_CERT="+cert, "MEMD_TLS_KEY="+key)
		d := b.serve()
		r := b.run("doctor")
		d.stop()
		b.env = plain
		if found := strings.Contains(r.out+r.err, "tls.key, "+key); found != loose || (r.code != 0) != loose {
			t.Errorf("mode %04o: the doctor exits %d: %s", mode, r.code, r.out)
		}
		if warned := strings.Contains(d.log.String(), "tls.key, "+key); warned != loose {
			t.Errorf("mode %04o: logged %s", mode, d.log.String())
		}
	}
}

// The limits of the configuration are the daemon's.
func TestLimitsAreConfigured(t *testing.T) {
	b := newBox(t)
	b.env = append(b.env, "MEMD_LIMITS_RATE=1", "MEMD_LIMITS_BURST=1")
	d := b.serve()
	token := b.adminToken()
	for n := range 20 { // one a second passes, whatever the machine's speed
		if d.overTCP("GET", "/v1/stats", token, "") == http.StatusTooManyRequests {
			d.stop()
			return
		}
		if n == 19 {
			t.Error("20 requests were answered, at one a second")
		}
	}
}
