package watch

import (
	"path"
	"regexp"
	"strings"
)

// passing are names that programs use on their way to a file: backups and the probe of
// vim (4913), swap files, autosaves of Emacs, locks of office programs, safe writes of
// JetBrains' editors, downloads.
var passing = regexp.MustCompile(`(?i)^(?:.*~|~\$.*|#.*#|4913|.*\.(?:sw[a-z]|tmp|temp|part|crdownload)|.*___jb_(?:tmp|old)___)$`)

// passedOver reports whether a file is hidden, itself or by a folder above it, or nothing
// that anybody keeps.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || passing.MatchString(path.Base(name))
}
