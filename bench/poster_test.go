//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"memd"
	"memd/internal/dirlock"
)

// rememberRequests returns, for each text, the whole POST /v1/remember that
// writes it, as it goes over a connection that is kept alive.
func rememberRequests(b *testing.B, texts []string) [][]byte {
	b.Helper()
	requests := make([][]byte, len(texts))
	for i, text := range texts {
		body, err := json.Marshal(memd.Remember{Summary: text})
		if err != nil {
			b.Fatal(err)
		}
		requests[i] = fmt.Appendf(nil, "POST /v1/remember HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	return requests
}

// poster is a client that costs next to nothing, so that what is measured is
// the daemon: it sends requests made beforehand over one connection and reads
// of an answer what tells that the row was created and where the answer ends.
type poster struct {
	conn    net.Conn
	answers *bufio.Reader
}

// newPoster connects to the daemon that owns dir. The caller must Close it.
func newPoster(b *testing.B, dir string) *poster {
	b.Helper()
	conn, err := net.Dial("unix", filepath.Join(dir, dirlock.SocketName))
	if err != nil {
		b.Fatal(err)
	}
	return &poster{conn, bufio.NewReader(conn)}
}

func (p *poster) Close() error { return p.conn.Close() }

// post sends one request and waits for the whole answer, which must be 201
// with a Content-Length.
func (p *poster) post(request []byte) error {
	if _, err := p.conn.Write(request); err != nil {
		return err
	}
	status, err := p.answers.ReadSlice('\n')
	if err != nil {
		return err
	}
	if want := "HTTP/1.1 " + strconv.Itoa(http.StatusCreated); !bytes.HasPrefix(status, []byte(want)) {
		return fmt.Errorf("the daemon answered %q", status)
	}
	length := -1
	for {
		line, err := p.answers.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == len("\r\n") {
			break
		}
		if value, ok := strings.CutPrefix(string(line), "Content-Length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return fmt.Errorf("the answer does not say where it ends")
	}
	_, err = io.CopyN(io.Discard, p.answers, int64(length))
	return err
}
