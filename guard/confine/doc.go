// Package confine opens files by names that callers chose, inside one folder and
// nowhere else. The folder is an os.Root, so that no link leads out of it, also not
// one that is put there between a look and the opening; what an os.Root lets
// through and yet may show a file from elsewhere is refused on top: names that some
// program between here and the disk reads as other ones, hard links, devices.
package confine
