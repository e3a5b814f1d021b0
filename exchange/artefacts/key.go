package artefacts

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"memd"
)

// Bounds of the parts of a key, in bytes.
const (
	maxKeyFile   = 80
	maxKeyAnchor = 45
	maxKeyWords  = 36
)

// newKey makes the key of an item: its file, its section and its first words. A key
// stays with what it stands for whatever the item comes to say; see match.
func newKey(file string, it *Item, taken map[string]bool) string {
	parts := []string{keyPart(file, maxKeyFile, "/")}
	if it.Anchor != "" {
		parts = append(parts, keyPart(it.Anchor, maxKeyAnchor, ""))
	}
	parts = append(parts, keyPart(it.says(), maxKeyWords, ""))
	key := strings.Join(parts, "/")
	for n := 2; taken[key] || !memd.ValidKey(key); n++ {
		key = strings.Join(parts, "/") + "-" + strconv.Itoa(n)
	}
	taken[key] = true
	return key
}

// keyPart makes of a text what may stand in a key: what is no ASCII letter or digit is
// -. Where that loses something that tells texts apart, a hash of the text follows.
func keyPart(text string, n int, keep string) string {
	var b strings.Builder
	lost := false
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r < 0x80 && strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z' && keep != "":
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r - 'A' + 'a')
		case unicode.IsLetter(r), unicode.IsNumber(r):
			lost = true
			fallthrough
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() > 4*n { // much longer than is kept
			break
		}
	}
	part := strings.Trim(b.String(), "-.")
	if keep != "" {
		part = strings.TrimRight(b.String(), "-")
		lost = lost || len(part) > n
	}
	if len(part) > n {
		part = part[:n]
		if at := strings.LastIndexByte(part, '-'); at > n/2 && keep == "" {
			part = part[:at]
		}
		part = strings.Trim(part, "-.")
	}
	if !lost && part != "" {
		return part
	}
	sum := sha256.Sum256([]byte(text))
	return strings.TrimLeft(part+"-"+hex.EncodeToString(sum[:4]), "-")
}
