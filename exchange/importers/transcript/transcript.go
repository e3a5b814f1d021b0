// Package transcript reads chats: the session files of Claude Code (JSON lines), other
// JSON lines of {role, content, timestamp}, JSON documents with a list of such messages,
// as the chat interfaces of model providers take them, and plain text or Markdown in which
// "User:" and "Assistant:" begin what each has said.
//
// One exchange is one memory: what the user said, and what was answered until they spoke
// again. Alone neither says much, and a memory a message would be twice as many. System
// prompts, tools and what they gave back, what the model thought, and what another agent
// worked on beside the conversation are left out.
package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"regexp"

	"memd"
	"memd/exchange/importers"
)

// Options say where a transcript stands.
type Options struct {
	importers.Origin
	// Project is the namespace of the project that a folder of this machine belongs
	// to, "" where there is none. It may be nil.
	Project func(dir string) string
}

// Roles that are kept.
const (
	user      = "user"
	assistant = "assistant"
)

// message is what somebody said.
type message struct {
	line    int
	role    string // "" for what is left out
	text    string
	at      memd.Time // zero where nobody says
	id      string    // the program's own, "" for none
	session string
	agent   string
	dir     string // the folder that was worked in
}

// Read reads a transcript, of whichever form it is.
func Read(file io.ReadSeeker, o Options) importers.Items {
	return func(yield func(importers.Item, error) bool) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			yield(importers.Item{}, err)
			return
		}
		in := bufio.NewReaderSize(file, peeked)
		x := &exchanges{o: o, yield: yield, projects: map[string]string{}, twins: map[string]int{}}
		start, _ := in.Peek(peeked) // of a shorter file it is the whole
		switch form(start) {
		case asLines:
			x.lines(in)
		case asDocument:
			x.document(in)
		default:
			x.plain(in)
		}
		x.end()
		if x.heard == 0 && x.faults == 0 && !x.over {
			x.fault(0, "the file holds nothing that a user or an assistant said: a turn is a message of JSON, or begins with User: or Assistant:")
		}
	}
}

// peeked is how much of a file tells its form, in bytes.
const peeked = 64 << 10

type fileForm int

const (
	asText fileForm = iota
	asLines
	asDocument
)

// messages is how a document begins that holds its messages in a list.
var messages = regexp.MustCompile(`^\{\s*(?:"[^"\\]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[-+.0-9eE]+|true|false|null)\s*,\s*)*"messages"\s*:\s*\[`)

// form tells the form of a file by its start.
func form(start []byte) fileForm {
	start = bytes.TrimLeft(importers.Unmarked(start), " \t\r\n")
	first, _, _ := bytes.Cut(start, []byte("\n"))
	switch {
	case len(start) == 0:
		return asText
	case start[0] == '[' && (len(bytes.TrimSpace(first)) == 1 || bytes.HasPrefix(bytes.TrimLeft(start[1:], " \t\r\n"), []byte("{"))):
		return asDocument
	case start[0] != '{':
		return asText
	case len(bytes.TrimSpace(first)) == 1, messages.Match(start):
		return asDocument
	}
	return asLines
}

// rawText is a value of JSON as a text, "" where it is none.
func rawText(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // none is none
	return s
}
