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

// inFolder looks at a file or folder below a root. What is not there is missing;
// what memd cannot or will not read is unchecked, be it the root itself: a disk that
// is not mounted tells nothing of what is on it.
func inFolder(root string, p Path) Found {
	name, err := url.PathUnescape(p.File)
	if err != nil || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") {
		return unchecked(Barred, "no path inside the root")
	}
	folder, err := os.OpenRoot(root)
	if err != nil {
		return unchecked(Away, "the root cannot be opened")
	}
	defer folder.Close()
	data, err := read(folder, name)
	why, refused := errors.AsType[unreadable](err)
	absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	switch {
	case (absent || err == aFolder && filepath.Clean(name) == ".") && isEmpty(folder): // where nothing is mounted
		return unchecked(Away, "the root is empty")
	case absent:
		return missing("no such file")
	case err == aFolder && p.whole():
		return stands("")
	case refused:
		return unchecked(There, string(why))
	case err != nil: // among them a link that leads out of the root
		reach := Away
		if _, err := folder.Lstat(name); err == nil {
			reach = There
		}
		return unchecked(reach, "the file cannot be read")
	case !isText(data) && p.whole():
		return stands(sum(data))
	case !isText(data):
		return unchecked(There, notText)
	}
	section, gone := p.cited(plain(data))
	if gone != "" {
		return missing(gone)
	}
	return stands(hash(section))
}

// isEmpty reports whether a folder is known to hold nothing.
func isEmpty(folder *os.Root) bool {
	dir, err := folder.Open(".")
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return err == io.EOF
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

const (
	tooLarge = unreadable("larger than what is read of a file")
	aFolder  = unreadable("no regular file, but a folder")
)

// readable refuses what is no file of its own: a second name of a file may be one
// that was put here to show a file from elsewhere.
func readable(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return aFolder
	case !info.Mode().IsRegular():
		return unreadable("no regular file")
	case linked(info):
		return unreadable("the file has another name (a hard link)")
	case info.Size() > maxFile:
		return tooLarge
	}
	return nil
}
