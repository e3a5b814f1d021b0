package memd

// FenceName is the name of the element that encloses memories handed to a
// model. Its id is chosen per answer so that no enclosed text contains it.
const FenceName = "memd-memories"

// FenceOpen is the first line of a fenced text; id is 16 hexadecimal digits.
func FenceOpen(id string) string { return "<" + FenceName + ` id="` + id + `">` }

// FenceClose is its last line.
func FenceClose(id string) string { return "</" + FenceName + ` id="` + id + `">` }
