package embeddingtest_test

import (
	"testing"

	"memd/embedding/embeddingtest"
)

func TestHashed(t *testing.T) {
	embeddingtest.Test(t, embeddingtest.Hashed{Name: "m", Size: 32}, []string{"the daemon restarts", "a new key", "重启 设备"})
}
