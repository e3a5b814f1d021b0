// Package agents knows where the clients of the Model Context Protocol keep the
// servers they start, and writes memd among them.
//
// These files are other programs' and their users': whatever memd does not set stays
// byte for byte, comments, order and line ends included; what memd cannot read it does
// not write. clients.go says who keeps what where, jsonc.go and toml.go edit texts, and
// plan.go puts an edited text in place of the file.
package agents
