package importers

import (
	"os"
	"path/filepath"

	"memd"
	"memd/internal/project"
)

// Machine is what of this machine decides where the memories of a file go.
type Machine struct {
	Home  string            // of the user, "" for none
	Roots map[string]string // as in the configuration
}

// Project is the namespace of the project that a folder belongs to. It is "" for one
// that is not here, and for the home folder, which is nobody's.
func (m Machine) Project(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	id, err := project.ID(dir, m.Roots)
	if err != nil || id == "" {
		return ""
	}
	return "project/" + id
}

// Origin is that of a file or a folder, whose sources are relative to the root of a
// namespace where it lies below that. namespace is the one that was asked for, and of
// the one that its memories will have; both may be "".
func (m Machine) Origin(file, asked, of string, date memd.Time) (Origin, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return Origin{}, err
	}
	return Origin{File: file, Source: SourceOf(abs, m.root(abs, of), m.Home), Date: date, Namespace: asked}, nil
}

// root is the folder that a namespace's sources are relative to: as it is configured, or
// the project that the file lies in.
func (m Machine) root(file, namespace string) string {
	if root := m.Roots[namespace]; root != "" {
		return root
	}
	dir := file
	if info, err := os.Stat(file); err != nil || !info.IsDir() {
		dir = filepath.Dir(file)
	}
	if namespace == "" || m.Project(dir) != namespace {
		return ""
	}
	top, err := project.Top(dir)
	if err != nil {
		return ""
	}
	return top
}
