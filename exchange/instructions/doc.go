// Package instructions finds the files by which people instruct agents, for the
// folder that an agent works in: layers of them, the weakest first, so that of two
// that disagree the later one holds (seed 000, its chapter on five layers).
//
// The layers are trusted differently. What the administrator and the user wrote may
// include any file. What lies in a project comes from whoever wrote that, and is
// opened inside the project alone (guard/confine).
//
// Nothing here is configuration: whatever a file says is text for a model, and names
// no folder and no project to memd.
package instructions
