package recall

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math"

	"memd"
)

// position is where a page ended, and all that its order depends on but the
// rows themselves: the next page continues the same order, whatever was
// written meanwhile and however late it is asked for.
type position struct {
	Score     uint64       `json:"s"` // bits of the float
	UpdatedAt memd.Time    `json:"u"`
	ID        string       `json:"i"`
	Hour      memd.Time    `json:"h"`           // what recency was measured from
	Corpus    *corpus      `json:"c"`           // what terms were weighed against
	Vector    *vectorQuery `json:"v"`           // what rows were compared with
	Chosen    *choice      `json:"x,omitempty"` // what the selector made of the query, if it was asked
	Leads     [][]float64  `json:"l"`           // how well the first rows answered each sentence
	Lifts     []lift       `json:"g"`           // what the nearest rows gained
}

// before reports whether s stands behind the position.
func (at *position) before(s *scored) bool {
	last := scored{score: math.Float64frombits(at.Score), memory: memd.Memory{ID: at.ID, UpdatedAt: at.UpdatedAt}}
	return order(&last, s) < 0
}

// asked is what a cursor is bound to: what the query asks and who asks it,
// without paging.
func (p *plan) asked() []byte {
	q := p.query
	asked, err := json.Marshal([]any{
		q.Query, p.scope.Namespaces, p.scope.Access, q.Tiers, q.Kinds, q.Tags, q.SessionID, q.IncludeArchive, q.Tools, p.caller.Identity(),
	})
	if err != nil { // strings always marshal
		panic(err)
	}
	return asked
}

// seal closes a body so that only this store can open it, for the same
// question: the corpus in it counts rows that the caller may not see. The
// nonce is made from what it seals, so that equal pages have equal cursors.
func (p *plan) seal(body []byte) []byte {
	box := p.box()
	mac := hmac.New(sha256.New, p.key)
	mac.Write(p.asked())
	mac.Write(body)
	nonce := mac.Sum(nil)[:box.NonceSize()]
	return box.Seal(nonce, nonce, body, p.asked())
}

// open reverses seal; ok is false for anything seal did not make.
func (p *plan) open(sealed []byte) (body []byte, ok bool) {
	box := p.box()
	if len(sealed) < box.NonceSize() {
		return nil, false
	}
	body, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], p.asked())
	return body, err == nil
}

func (p *plan) box() cipher.AEAD {
	block, err := aes.NewCipher(p.key)
	if err != nil { // the key's length is the store's
		panic(err)
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return box
}

// cursorAfter is the cursor of the page behind last.
func (p *plan) cursorAfter(last *scored) string {
	body, err := json.Marshal(position{
		Score: math.Float64bits(last.score), UpdatedAt: last.memory.UpdatedAt, ID: last.memory.ID,
		Hour: p.hour, Corpus: p.corpus, Vector: p.vector, Chosen: p.chosen, Leads: p.leads, Lifts: p.lifts,
	})
	if err != nil { // numbers and strings always marshal
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(p.seal(body))
}

// continueFrom resumes at a cursor, "" being the start.
func (p *plan) continueFrom(cursor string) error {
	if cursor == "" {
		return nil
	}
	foreign := memd.FieldErrorf(memd.CodeInvalidRequest, "cursor", "cursor does not belong to this query")
	sealed, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return foreign
	}
	body, ok := p.open(sealed)
	var at position
	if !ok || json.Unmarshal(body, &at) != nil || at.Corpus == nil || at.Vector == nil || !at.Corpus.fits(len(p.terms)) || len(at.Leads) != len(p.clauses) {
		return foreign
	}
	p.after, p.hour, p.corpus, p.vector = &at, at.Hour, at.Corpus, at.Vector
	p.chosen, p.leads, p.lifts = at.Chosen, at.Leads, at.Lifts
	return nil
}
