package sources

import (
	"errors"
	"io/fs"
	"path"
	"syscall"

	"memd/guard/confine"
)

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 4 << 20

// inFolder looks at a file or folder below a root. What is not there is missing;
// what memd cannot or will not read is unchecked, be it the root itself: a disk that
// is not mounted tells nothing of what is on it.
func inFolder(root string, p Path) Found {
	name, err := p.name()
	if err != nil {
		return unchecked(Barred, err.Error())
	}
	folder, err := confine.Open(root)
	if err != nil {
		return unchecked(Away, "the root cannot be opened")
	}
	defer folder.Close()
	data, err := read(folder, name)
	why, refused := errors.AsType[confine.Refused](err)
	absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	switch {
	case (absent || name == ".") && folder.IsEmpty(): // where nothing is mounted
		return unchecked(Away, "the root is empty")
	case absent:
		return missing("no such file")
	case err == confine.AFolder && p.whole():
		return stands("")
	case refused:
		return unchecked(There, why.Error())
	case err != nil: // among them a link that leads out of the root
		reach := Away
		if folder.Has(name) {
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
	return stands(p.hash(section))
}

// name is the name of the file of p inside its root, "." for the root itself:
// docs/../a.md is the same file for everyone who cites it.
func (p Path) name() (string, error) {
	name, err := confine.Unescaped(p.File)
	if err != nil || name == "" {
		return "", confine.Outside
	}
	if name = path.Clean(name); name == "." {
		return name, nil
	}
	return name, confine.Check(name)
}

func read(folder *confine.Folder, name string) ([]byte, error) {
	if name == "." {
		return nil, confine.AFolder
	}
	return folder.Read(name, maxFile)
}
