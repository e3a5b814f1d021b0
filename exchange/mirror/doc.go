// Package mirror keeps a folder of notes and the store the same while both change.
//
// Package watch tells of the folder, the log of the store; either is reason enough to
// compare all, which package folder does, and which changes only what differs. So
// nothing depends on what was told, nor in which order, and what is told of memd's own
// writing ends with a comparison in which nothing is left to do. What nobody tells of,
// such as a hand edit in the database, is found every few minutes.
//
// To ask the store for the newest entries of its log writes nothing and counts no
// access. A store that cannot be reached is waited for.
package mirror
