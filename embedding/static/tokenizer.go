package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// piece is a token of a tokenizer's vocabulary.
type piece struct {
	text  string
	id    int
	score float32
}

// tokenizer is what a table takes over of a tokenizer.json.
type tokenizer struct {
	cut    cut
	flags  flags
	pieces []piece // but for special ones and the unknown
}

// tokenizerFile is the part of a tokenizer.json that is read.
type tokenizerFile struct {
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
	Normalizer   *stage `json:"normalizer"`
	PreTokenizer *stage `json:"pre_tokenizer"`
	Model        struct {
		Type         string          `json:"type"`
		Vocab        json.RawMessage `json:"vocab"`
		UnkToken     string          `json:"unk_token"`
		UnkID        *int            `json:"unk_id"`
		Prefix       *string         `json:"continuing_subword_prefix"`
		ByteFallback bool            `json:"byte_fallback"`
	} `json:"model"`
}

// stage is a step of normalising a text, or of taking it apart before the
// model does.
type stage struct {
	Type          string  `json:"type"`
	Normalizers   []stage `json:"normalizers"`
	Pretokenizers []stage `json:"pretokenizers"`
	Lowercase     bool    `json:"lowercase"`
	StripAccents  *bool   `json:"strip_accents"`
	Han           bool    `json:"handle_chinese_chars"`
	Content       string  `json:"content"`
	Replacement   string  `json:"replacement"`
	Pattern       struct {
		String string `json:"String"`
		Regex  string `json:"Regex"`
	} `json:"pattern"`
}

// parseTokenizer reads a tokenizer.json. It refuses what it would not cut as
// the original does, rather than give vectors of other words.
func parseTokenizer(raw []byte) (tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return tokenizer{}, errors.New("no tokenizer of the form that is read here")
	}
	var t tokenizer
	var err error
	switch f.Model.Type {
	case "WordPiece":
		t.cut = cutWordPiece
		if f.Model.Prefix != nil && *f.Model.Prefix != continuing {
			return t, errors.New("a WordPiece whose pieces go on with other than ##")
		}
		t.pieces, err = wordPieceVocab(f.Model.Vocab)
	case "Unigram":
		t.cut = cutUnigram
		if f.Model.ByteFallback {
			return t, errors.New("a Unigram that falls back to bytes, which is not read here")
		}
		t.pieces, err = unigramVocab(f.Model.Vocab)
	default:
		return t, fmt.Errorf("a tokenizer of type %.20q; WordPiece and Unigram are read", f.Model.Type)
	}
	if err != nil {
		return t, err
	}
	if err := t.normalise(f.Normalizer, 0); err != nil {
		return t, err
	}
	if err := t.takeApart(f.PreTokenizer, 0); err != nil {
		return t, err
	}
	t.leaveOut(f)
	return t, nil
}

func wordPieceVocab(raw json.RawMessage) ([]piece, error) {
	var vocab map[string]int
	if err := json.Unmarshal(raw, &vocab); err != nil {
		return nil, errors.New("a WordPiece without a vocabulary of numbered pieces")
	}
	pieces := make([]piece, 0, len(vocab))
	for text, id := range vocab {
		pieces = append(pieces, piece{text: text, id: id})
	}
	return pieces, nil
}

func unigramVocab(raw json.RawMessage) ([]piece, error) {
	var vocab [][2]json.RawMessage
	if err := json.Unmarshal(raw, &vocab); err != nil {
		return nil, errors.New("a Unigram without a vocabulary of pieces with scores")
	}
	pieces := make([]piece, len(vocab))
	for i, pair := range vocab {
		pieces[i].id = i
		if json.Unmarshal(pair[0], &pieces[i].text) != nil || json.Unmarshal(pair[1], &pieces[i].score) != nil {
			return nil, fmt.Errorf("piece %d of the Unigram is no text with a score", i)
		}
	}
	return pieces, nil
}

// maxStages bounds how deep sequences of stages are nested.
const maxStages = 8

// normalise notes what a normaliser does.
func (t *tokenizer) normalise(s *stage, depth int) error {
	if s == nil {
		return nil
	}
	switch s.Type {
	case "Sequence":
		if depth == maxStages {
			return errors.New("normalizers nested too deep")
		}
		for i := range s.Normalizers {
			if err := t.normalise(&s.Normalizers[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	case "BertNormalizer":
		if s.Lowercase {
			t.flags |= flagLower
		}
		if s.Han {
			t.flags |= flagHan
		}
		if s.StripAccents == nil && s.Lowercase || s.StripAccents != nil && *s.StripAccents {
			t.flags |= flagAccents
		}
		return nil
	case "Lowercase":
		t.flags |= flagLower
		return nil
	case "StripAccents":
		t.flags |= flagAccents
		return nil
	case "NFKC", "NFKD", "Precompiled", "Nmt": // SentencePiece's own map is NFKC and a few more
		t.flags |= flagNFKC
		return nil
	case "NFC", "NFD", "Strip":
		return nil
	case "Replace":
		return t.replace(s)
	}
	return fmt.Errorf("a normalizer of type %.20q, which is not read here", s.Type)
}

// replace knows the replacements that model2vec puts in: punctuation set
// apart, and white space collapsed, which happens here in any case.
func (t *tokenizer) replace(s *stage) error {
	from := s.Pattern.String
	switch {
	case len(from) == 1 && bertPunct(rune(from[0])) && s.Content == " "+from+" ":
		t.flags |= flagPunct
		return nil
	case s.Content == " " && (s.Pattern.Regex == `\s+` || s.Pattern.Regex == " {2,}"):
		return nil
	}
	return errors.New("a normalizer that replaces something, which is not read here")
}

// takeApart checks that words are taken apart as they are here.
func (t *tokenizer) takeApart(s *stage, depth int) error {
	if s == nil {
		return errors.New("a tokenizer without a pre_tokenizer")
	}
	switch {
	case s.Type == "Sequence":
		if depth == maxStages {
			return errors.New("pre_tokenizers nested too deep")
		}
		for i := range s.Pretokenizers {
			if err := t.takeApart(&s.Pretokenizers[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	case s.Type == "BertPreTokenizer" && t.cut == cutWordPiece,
		s.Type == "WhitespaceSplit" && t.cut == cutUnigram,
		s.Type == "Metaspace" && t.cut == cutUnigram && (s.Replacement == "" || s.Replacement == string(metaspace)):
		return nil
	}
	return fmt.Errorf("a pre_tokenizer of type %.20q with this kind of model, which is not read here", s.Type)
}

// leaveOut takes out the pieces that stand for no text.
func (t *tokenizer) leaveOut(f tokenizerFile) {
	out := map[int]bool{}
	for _, a := range f.Added {
		if a.Special {
			out[a.ID] = true
		}
	}
	if f.Model.UnkID != nil {
		out[*f.Model.UnkID] = true
	}
	kept := t.pieces[:0]
	for _, p := range t.pieces {
		if !out[p.id] && p.text != "" && (p.text != f.Model.UnkToken || t.cut == cutUnigram) && utf8.ValidString(p.text) {
			kept = append(kept, p)
		}
	}
	t.pieces = kept
}
