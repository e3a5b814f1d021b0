package terms

// Segment returns the seg column of a row with the given texts (summary, why,
// tags, key ...): the tokens, separated by spaces, that FTS5 cannot make of
// them itself, "" when there are none. Each stands as often as it occurs.
func Segment(texts ...string) string {
	var seg []byte
	l := lexer{emit: func(token []byte, r role) {
		if r&inRaw != 0 {
			return
		}
		if len(seg) > 0 {
			seg = append(seg, ' ')
		}
		seg = append(seg, token...)
	}}
	for _, text := range texts {
		l.scan(text)
	}
	return string(seg)
}
