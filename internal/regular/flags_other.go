//go:build !unix

package regular

const atOnce = 0
