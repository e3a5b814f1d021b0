// Package tiers is the only door into the store for memories: what each tier
// takes, keeps and refuses, and for how long. Every call takes the caller and
// sees only what the caller may see; what it may not see is not found.
package tiers
