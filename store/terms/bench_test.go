package terms

import (
	"strings"
	"testing"
)

const (
	// 400 bytes each, or nearly.
	prose = "The writer goroutine commits queued writes in groups, and a write is answered after its commit is " +
		"on disk. Readers have their own pool of connections, so a read never waits for the writer, nor for an " +
		"embedder. Everything that a write touches is one transaction: the row, the keyword index, the outbox and " +
		"the audit entry. A superseded version is dead to recall from the moment when its successor commits it."
	technical = "Run `make test-all` after editing store/terms/lexer.go:42; E_SIG_47 means that parseURL got a bad " +
		"sha256:deadbeef. See https://example.com/docs/v1.2.3/http-server for the C++ client, which reads 2 GB/s " +
		"from the NVMe. The HTTPServer restarts on SIGHUP, and memd.yaml is read again; --force-all skips the " +
		"pre-check. Timeouts: read_timeout=5s, write_timeout=10s, idle-timeout=60s (in configs/memd.yaml) ok."
	chinese = "修复watchdog误杀设备重启的问题：数据库迁移期间，心跳线程被阻塞，看门狗以为进程已死，于是重启了设备。解决办法是把迁移放到后台，" +
		"每迁移一千行就喂一次狗。注意：不要在事务里喂狗，否则锁会拖住其他写入。"
	question = "Why does the watchdog restart the device during a database migration, and how do we run test-all?"
)

func BenchmarkSegment(b *testing.B) {
	bench := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Segment(text)
			}
		})
	}
	bench("prose", prose)
	bench("technical", technical)
	bench("chinese", chinese)
	bench("megabyte", strings.Repeat(prose, 1<<20/len(prose)))
}

func BenchmarkCount(b *testing.B) {
	bench := func(name, text, q string) {
		b.Run(name, func(b *testing.B) {
			query := Query(q, 32)
			counter := NewCounter(query)
			tf := make([]int, len(query))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				counter.Count(text, tf)
			}
		})
	}
	bench("prose", prose, question)
	bench("technical", technical, question)
	bench("chinese", chinese, "设备为什么在数据库迁移的时候重启？")
}

func BenchmarkQuery(b *testing.B) {
	bench := func(name, q string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Query(q, 32)
			}
		})
	}
	bench("english", question)
	bench("chinese", "设备为什么在数据库迁移的时候重启？")
	bench("long", strings.Repeat(technical, 80)) // near the 32768 characters allowed
}
