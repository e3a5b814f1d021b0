package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var guardKills = flag.Int("guard.kills", 3, "how often TestKilledHoldsNoSecret kills the daemon")

// planter sends what must leave no trace to a daemon that is about to die.
type planter struct {
	t      *testing.T
	round  int
	http   *http.Client
	sent   atomic.Int64 // requests that were answered
	enough int64        // of them: then the daemon is killed
	kill   func()

	mu   sync.Mutex
	kept []string // words of rows that were answered and stand
	gone []string // words of rows that were forgotten before a light groom ended
	told []string // answers that hold a piece of a secret
}

// ask sends a request to the socket, and kills the daemon where it was the last; a
// status of 0 stands for no answer.
func (p *planter) ask(method, path, body string, header ...string) (status int, answer string) {
	req, err := http.NewRequestWithContext(context.Background(), method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		p.t.Error(err)
		return 0, ""
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := p.http.Do(req)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	if found := leaks(string(data)); found != nil {
		p.mu.Lock()
		p.told = append(p.told, fmt.Sprintf("%s %s: %d holds %q", method, path, res.StatusCode, found))
		p.mu.Unlock()
	}
	if p.sent.Add(1) == p.enough {
		p.kill()
	}
	return res.StatusCode, string(data)
}

// plant sends requests until the daemon is gone.
func (p *planter) plant(worker int, dice *rand.Rand) {
	for n := 0; ; n++ {
		word := fmt.Sprintf("word%dx%dx%dz", p.round, worker, n)
		status, want := 0, 0
		switch dice.IntN(8) {
		case 0, 1:
			status, _ = p.ask("POST", "/v1/remember", fmt.Sprintf(`{"summary":"%s: the bot uses %s, card %s","raw_content":"db.pass`+`word = %s","tags":["%s"]}`,
				word, aToken, aCard, aPassword, aToken), "Idempotency-Key", aToken+word)
			if want = http.StatusCreated; status == want {
				p.note(&p.kept, word)
			}
		case 2:
			status, _ = p.ask("POST", "/v1/sessions/s1/transient", fmt.Sprintf(`{"summary":"%s: the bot uses %s"}`, word, aToken))
			want = http.StatusCreated
		case 3:
			status, _ = p.ask("POST", "/v1/remember_long_term", fmt.Sprintf(`{"memory_key":"ci/%s","source":"docs/ci.md","summary":"the bot uses %s"}`, word, aToken))
			want = http.StatusUnprocessableEntity
		case 4:
			status, _ = p.ask("POST", "/v1/remember", fmt.Sprintf(`{"summary":"%s","%s":1}`, word, aToken))
			want = http.StatusBadRequest
		case 5:
			status, _ = p.ask("POST", "/v1/recall", fmt.Sprintf(`{"query":"the bot","session_id":"%s"}`, aToken))
			want = http.StatusOK
		case 6:
			status = p.forget(word)
			want = status // a groom may find another one at work
		case 7:
			if n%5 == 0 {
				status, _ = p.ask("POST", "/v1/rollover", "")
			} else {
				status, _ = p.ask("GET", "/v1/log", "")
			}
			want = http.StatusOK
		}
		if status == 0 {
			return
		}
		if status != want {
			p.t.Errorf("%s: %d, want %d", word, status, want)
		}
	}
}

// forget writes a word, forgets it, and has a light groom take its bytes.
func (p *planter) forget(word string) int {
	status, answer := p.ask("POST", "/v1/remember", `{"summary":"`+word+` goes","raw_content":"`+word+`"}`)
	var m struct{ ID string }
	if status != http.StatusCreated || json.Unmarshal([]byte(answer), &m) != nil {
		return status
	}
	if status, _ = p.ask("DELETE", "/v1/memories/"+m.ID, ""); status != http.StatusNoContent {
		return status
	}
	if status, _ = p.ask("POST", "/v1/groom", `{"light":true}`); status == http.StatusOK {
		p.note(&p.gone, word)
	}
	return status
}

func (p *planter) note(list *[]string, word string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, word)
}

// A daemon that is killed at any moment leaves nothing in its folder of what it
// refused or took out, nor of what was forgotten before a light groom ended; and
// nothing is lost of what it answered.
func TestKilledHoldsNoSecret(t *testing.T) {
	b := newBox(t)
	b.env = append(b.env, "MEMD_LOG_LEVEL=debug", "MEMD_BUDGETS_HISTORY_FILES=1000") // nothing is retired
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 0))
	var kept, gone []string
	for round := range *guardKills {
		d := b.serve()
		p := &planter{t: t, round: round, enough: 1 + dice.Int64N(150), kill: func() { _ = d.cmd.Process.Kill() }}
		p.http = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", b.socket())
		}}}
		var planting sync.WaitGroup
		for worker := range 4 {
			own := rand.New(rand.NewPCG(seed, uint64(round*4+worker+1)))
			planting.Go(func() { p.plant(worker, own) })
		}
		planting.Wait()
		p.http.CloseIdleConnections()
		<-d.done
		kept, gone = append(kept, p.kept...), append(gone, p.gone...)
		folder := below(t, b.dir)
		for what, text := range map[string]string{"folder": folder, "log": d.log.String(), "answers": strings.Join(p.told, "\n")} {
			if found := leaks(text); found != nil {
				t.Errorf("round %d (seed %d), after %d answers: the %s holds %q", round, seed, p.enough, what, found)
			}
		}
		for _, word := range gone {
			if strings.Contains(folder, word) {
				t.Errorf("round %d (seed %d), after %d answers: the folder holds the forgotten %s", round, seed, p.enough, word)
			}
		}
		for _, word := range kept { // or the search would see nothing at all
			if !strings.Contains(folder, word) {
				t.Errorf("round %d (seed %d), after %d answers: %s is lost", round, seed, p.enough, word)
			}
		}
	}
	t.Logf("seed %d: %d kills, %d rows kept, %d forgotten", seed, *guardKills, len(kept), len(gone))
}
