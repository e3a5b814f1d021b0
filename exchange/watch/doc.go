// Package watch tells when files below a folder may have changed. It knows nothing of
// what they hold.
//
// Where the system tells of changes it is asked (fsnotify); because it forgets some, on
// network file systems tells of none, and has only so many watches to give, the folder
// is also gone through every so often and held against what was there before. What
// is told is a hint: [Changes] name files that somebody should look at, once they have
// been left alone for a moment, and never promise that anything is different.
//
// Links are not followed. Hidden files and folders, and what editors write on their way
// to a file, are passed over (see passedOver).
package watch
