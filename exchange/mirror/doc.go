// Package mirror keeps a folder of notes and the store the same while both change.
//
// It waits and tells when something is to be done; what that is and how it is done is
// for whoever compares the two. A change of the folder is told by a watcher, one of the
// store by its log, which is asked for its newest entries: nothing is written by that,
// no access counted. What neither tells (a hand edit in the database) is found when all
// is compared, every few minutes. Because a comparison changes only what differs, what
// one side is told of its own writing ends there.
//
// A store that cannot be reached is waited for.
package mirror
