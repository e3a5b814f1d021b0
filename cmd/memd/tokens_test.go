package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memd"
)

// adminToken reads the token that the daemon's first start wrote.
func (b *box) adminToken() string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, "token"))
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func TestTokens(t *testing.T) {
	b := newBox(t)
	early := b.field("token", "token", "new", "early", "--role", "write") // before any daemon
	d := b.serve()
	expect := func(what string, want int, method, path, token, body string) {
		t.Helper()
		if got := d.overTCP(method, path, token, body); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	const remember = `{"summary":"over TCP"}`
	expect("no token", http.StatusUnauthorized, "POST", "/v1/remember", "", remember)
	expect("health without a token", http.StatusOK, "GET", "/healthz", "", "")
	expect("the token file", http.StatusCreated, "POST", "/v1/remember", b.adminToken(), remember)
	expect("a token from before the start", http.StatusOK, "POST", "/v1/remember", early, remember)

	first, second := b.adminToken(), strings.Repeat("s", 43)
	if err := os.WriteFile(filepath.Join(b.dir, "token"), []byte(second+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("the token file written anew", http.StatusOK, "GET", "/v1/stats", second, "")
	expect("what stood in it", http.StatusUnauthorized, "GET", "/v1/stats", first, "")

	reader := b.field("token", "token", "new", "reader", "--role", "read")
	expect("a new token, at once", http.StatusOK, "GET", "/v1/memories", reader, "")
	expect("a reader's write", http.StatusForbidden, "POST", "/v1/remember", reader, remember)

	narrow := b.field("token", "token", "new", "narrow", "--role", "write", "--namespace", "project/memd", "--namespace", "user")
	expect("its namespace", http.StatusOK, "GET", "/v1/memories?namespace=user", narrow, "")
	expect("another's", http.StatusForbidden, "GET", "/v1/memories?namespace=default", narrow, "")

	const year = "2099-01-01T00:00:00.000Z"
	brief := b.field("token", "token", "new", "brief", "--role", "read", "--expires-at", year)
	expect("a token of some time", http.StatusOK, "GET", "/v1/memories", brief, "")
	if r := b.run("token", "new", "past", "--role", "read", "--expires-at", "2001-01-01T00:00:00Z"); r.code != memd.ExitUsage || !strings.Contains(r.err, "expires_at") {
		t.Errorf("a token that has expired: exit code %d: %s", r.code, r.err)
	}
	if out := b.must("token", "list", "--json"); strings.Count(out, "expires_at") != 1 || !strings.Contains(out, `"expires_at":"`+year+`"`) {
		t.Errorf("the list: %s", out)
	}
	if out := b.must("token", "list"); !strings.Contains(out, "never") || !strings.Contains(out, year) {
		t.Errorf("the list for people: %s", out)
	}

	if r := b.run("token", "list", "--json"); strings.Contains(r.out, reader) || !strings.Contains(r.out, `"narrow"`) {
		t.Errorf("the list: %s", r.out)
	}
	if out := b.must("token", "list", "--json"); !strings.Contains(out, `"name":"early","role":"write","namespaces":["*"],"access":[]`) || strings.Contains(out, "null") {
		t.Errorf("the list: %s", out)
	}
	if out := b.must("token", "list"); !strings.Contains(out, "all") || strings.Contains(out, "*") {
		t.Errorf("the list for people: %s", out)
	}
	b.must("token", "revoke", "reader")
	expect("a revoked token", http.StatusUnauthorized, "GET", "/v1/memories", reader, "")
	d.stop()
	if strings.Contains(d.log.String(), early) || strings.Contains(d.log.String(), b.adminToken()) {
		t.Error("the log holds a token")
	}
}

func TestTLS(t *testing.T) {
	b := newBox(t)
	cert, key := certificate(t)
	r := b.run("serve", "--listen", "0.0.0.0:0")
	if r.code != memd.ExitUsage || !strings.Contains(r.err, "--listen") {
		t.Errorf("beyond loopback without TLS: exit code %d: %s", r.code, r.err)
	}
	b.env = append(b.env, "MEMD_TLS_CERT="+cert, "MEMD_TLS_KEY="+key)
	d := b.serve()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	res, err := client.Get("https://" + d.tcp + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	client.CloseIdleConnections()
	if res.StatusCode != http.StatusOK {
		t.Errorf("over TLS: %d", res.StatusCode)
	}
	d.stop()
	if err := os.WriteFile(cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.run("serve"); r.code != memd.ExitUsage || !strings.Contains(r.err, "tls.cert") {
		t.Errorf("a broken certificate: exit code %d: %s", r.code, r.err)
	}
}

// A daemon that everyone could reach without saying who they are, or in plain
// text, does not start, and leaves neither socket nor lock.
func TestRefusesToStart(t *testing.T) {
	cert, key := certificate(t)
	secured := []string{"MEMD_TLS_CERT=" + cert, "MEMD_TLS_KEY=" + key}
	for name, c := range map[string]struct {
		listen string
		env    []string
		starts bool
	}{
		"every address":             {"0.0.0.0:0", nil, false},
		"every address of IPv6":     {"[::]:0", nil, false},
		"no address":                {":0", nil, false},
		"one address":               {"192.0.2.1:0", nil, false},
		"a name":                    {"memory.example:0", nil, false},
		"no auth":                   {"0.0.0.0:0", []string{"MEMD_AUTH=none"}, false},
		"no auth over TLS":          {"0.0.0.0:0", append([]string{"MEMD_AUTH=none"}, secured...), false},
		"no auth behind a proxy":    {"0.0.0.0:0", []string{"MEMD_AUTH=none", "MEMD_TLS_TERMINATED_ELSEWHERE=true"}, false},
		"tokens over TLS":           {"0.0.0.0:0", secured, true},
		"tokens behind a proxy":     {"0.0.0.0:0", []string{"MEMD_TLS_TERMINATED_ELSEWHERE=true"}, true},
		"no auth on loopback":       {"127.0.0.1:0", []string{"MEMD_AUTH=none"}, true},
		"a certificate on loopback": {"127.0.0.1:0", secured, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			plain := b.env
			b.env = append(slices.Clone(b.env), c.env...)
			defer func() { b.env = plain }() // the doctor warns of auth: none
			if c.starts {
				b.serve("--listen", c.listen).stop()
				return
			}
			r := b.run("serve", "--listen", c.listen)
			if r.code != memd.ExitUsage || !strings.Contains(r.err, "--listen: listen: ") {
				t.Errorf("exit code %d: %s", r.code, r.err)
			}
			if _, err := os.Lstat(b.dir); !os.IsNotExist(err) {
				t.Errorf("the folder is there (%v)", err)
			}
		})
	}
}

// certificate makes a self-signed one for 127.0.0.1.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", private)
}
