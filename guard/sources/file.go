package sources

import (
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 4 << 20

// inFolder looks at a file below a root. What is not there is missing; what memd
// cannot or will not read is unchecked, be it the root itself: a disk that is not
// mounted tells nothing of what is on it.
func inFolder(root string, p Path) Found {
	name, err := url.PathUnescape(p.File)
	if err != nil || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
		return unchecked("no path inside the root")
	}
	folder, err := os.OpenRoot(root)
	if err != nil {
		return unchecked("the root cannot be opened")
	}
	defer folder.Close()
	data, err := read(folder, name)
	if why, refused := errors.AsType[unreadable](err); refused {
		return unchecked(string(why))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return missing("no such file")
	case err != nil: // among them a link that leads out of the root
		return unchecked("the file cannot be read")
	case !isText(data) && p.whole():
		return stands(sum(data))
	case !isText(data):
		return unchecked(notText)
	}
	section, gone := p.cited(plain(data))
	if gone != "" {
		return missing(gone)
	}
	return stands(hash(section))
}

// unreadable says why a file that is there is not read.
type unreadable string

func (u unreadable) Error() string { return string(u) }

// read reads a regular file below a folder. It looks before it opens, for opening
// a pipe or a device may wait or do something; what counts is what it opened.
func read(folder *os.Root, name string) (data []byte, err error) {
	info, err := folder.Stat(name)
	if err == nil {
		err = readable(info)
	}
	if err != nil {
		return nil, err
	}
	file, err := folder.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil {
		err = readable(info)
	}
	if err != nil {
		return nil, err
	}
	if data, err = io.ReadAll(io.LimitReader(file, maxFile+1)); err == nil && len(data) > maxFile {
		err = tooLarge
	}
	return data, err
}

const tooLarge = unreadable("larger than what is read of a file")

// readable refuses what is no file of its own: a second name of a file may be one
// that was put here to show a file from elsewhere.
func readable(info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return unreadable("no regular file")
	case linked(info):
		return unreadable("the file has another name (a hard link)")
	case info.Size() > maxFile:
		return tooLarge
	}
	return nil
}
