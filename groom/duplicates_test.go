package groom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"memd"
	"memd/internal/memtest"
	"memd/tiers"
)

// same are statements in two wordings.
var same = [][2]string{
	{"Always run make test-all before releasing.", "Before every release, run make test-all"},
	{"Always run the full lint suite (task:lint) before a merge", "Run the lint suite before you merge: task:lint"},
	{"Database migrations must ship with a rollback plan", "Every database migration has to include a rollback plan."},
	{"Never commit secrets, tokens, or passwords", "Do not commit passwords, tokens or secrets!"},
	{"Deploying on Fridays is forbidden in production", "Don't deploy to production on a Friday"},
	{"It is not allowed to force push the main branch", "Do not force push main"},
	{"Generated files must not be edited by hand", "Do not edit generated files by hand"},
	{"Log lines carry the request id in every service", "every service must carry the request id in its log lines"},
	{"Use tabs, never spaces, for indentation", "For indentation use tabs and never spaces"},
	{"发布前必须运行 make test-all", "必须在发布前运行 make test-all。"},
	{"禁止直接提交生成的文件", "不得直接提交生成的文件！"},
	{"数据库迁移必须附带回滚计划", "数据库的迁移应当附带回滚计划"},
	{"禁止在生产环境直接执行 SQL", "不得直接在生产环境执行 SQL"},
	{"不要把密钥写进日志", "密钥不得写进日志里"},
	{"The ＡＰＩ gateway retries idempotent requests 3 times", "the API gateway retries idempotent requests 3 times"},
	{"The health check times out after 120ms on the gateway", "On the gateway the health check times out after 120 ms"},
}

// different are statements that share words and say something else.
var different = [][2]string{
	{"p95 was 120 ms on build 41", "p95 was 126 ms on build 42"},
	{"Always run the linter before pushing a branch", "Never run the linter before pushing a branch"},
	{"You must edit generated files by hand", "Do not edit generated files by hand"},
	{"必须直接提交生成的文件", "禁止直接提交生成的文件"},
	{"Use tabs, never spaces, for indentation", "Use spaces, never tabs, for indentation"},
	{"Run database migrations before deploy of the api", "Run deploy of the api before database migrations"},
	{"Copy the nightly snapshot from staging to production", "Copy the nightly snapshot from production to staging"},
	{"Release binaries with signed checksums and notes", "Release binaries without signed checksums and notes"},
	{"Turn the response cache on in production clusters", "Turn the response cache off in production clusters"},
	{"Use make test for the quick unit tests of a change", "Use make test-all for the quick unit tests of a change"},
	{"Restart the billing worker after changing the queue configuration in production",
		"Restart the email worker after changing the queue configuration in production"},
	{"All services must log to stdout", "All services must log to stderr"},
	{"The handlers of orders live in internal/orders/http.go", "The handlers of orders live in internal/billing/http.go"},
	{"生产环境的数据库必须每天凌晨三点做全量备份", "测试环境的数据库必须每天凌晨三点做全量备份"},
	{"从测试环境复制快照到生产环境", "从生产环境复制快照到测试环境"},
	{"上司的办公室在二楼东侧靠近电梯的位置", "同事的办公室在二楼东侧靠近电梯的位置"},
	{"先构建镜像再运行测试", "先运行测试再构建镜像"},
	{"生产环境必须启用缓存", "生产环境必须停用缓存"},
	{"API errors are problem documents", "API tokens are kept as hashes"},
	{"prefer pnpm over npm in the web packages", "prefer npm over pnpm in the web packages"},
	{"Enable the nightly job of the warehouse cluster", "Disable the nightly job of the warehouse cluster"},
	{"Prefer sqlite not postgres for the fixture stores", "Prefer postgres not sqlite for the fixture stores"},
	{"没有缓存", "没有日志"},
}

// duplicatesOf finds the duplicates among statements of one namespace, by their
// places.
func duplicatesOf(statements ...string) []duplicate {
	f := newDuplicateFinder()
	for i, s := range statements {
		f.add(&memd.Memory{Namespace: "default", ID: fmt.Sprint(i), MemoryKey: fmt.Sprintf("k%04d", i), Summary: s, ContentHash: s})
	}
	found, _ := f.find(context.Background())
	return found
}

// Whoever stops a groom does not wait for all pairs.
func TestDuplicatesCutOff(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := newDuplicateFinder()
	f.add(&memd.Memory{Summary: "one"})
	if _, err := f.find(ctx); err == nil {
		t.Error("the end of the context is not heeded")
	}
}

// What counting rules out is not alike, whatever is left out of either list.
func TestMayBeAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ruled, alike := 0, 0
	for range 20_000 {
		var a, b []int
		keepA, keepB := rng.Float64(), rng.Float64()
		for w := range 1 + rng.IntN(60) {
			if rng.Float64() < max(keepA, 0.6) {
				a = append(a, w)
			}
			if rng.Float64() < max(keepB, 0.6) {
				b = append(b, w)
			}
		}
		shared := 0
		for _, w := range a {
			if slices.Contains(b, w) {
				shared++
			}
		}
		least := likeness
		if shared == min(len(a), len(b)) {
			least = containment
		}
		is := shared > 0 && float64(shared) >= least*float64(len(a)+len(b)-shared)
		rowA, rowB := candidate{wording: wording{words: a}}, candidate{wording: wording{words: b}}
		for _, w := range a {
			rowA.marks.set(w % 40) // some share a mark
		}
		for _, w := range b {
			rowB.marks.set(w % 40)
		}
		may := mayBeAlike(a, b) && mayShare(&rowA, &rowB)
		if is && !may {
			t.Fatalf("%v and %v share %d words, and are ruled out", a, b, shared)
		}
		if is {
			alike++
		}
		if !may {
			ruled++
		}
	}
	if ruled < 1000 || alike < 1000 {
		t.Errorf("%d ruled out, %d alike: the test shows nothing", ruled, alike)
	}
}

// Rewordings are found, and statements that only share words are not.
func TestSimilarWording(t *testing.T) {
	for _, p := range same {
		if found := duplicatesOf(p[0], p[1]); len(found) != 1 || found[0].reason != similarWording {
			t.Errorf("not taken for the same: %q and %q: %v", p[0], p[1], found)
		}
	}
	for _, p := range different {
		if found := duplicatesOf(p[0], p[1]); len(found) != 0 {
			t.Errorf("taken for the same: %q and %q", p[0], p[1])
		}
	}
}

// In all of them together the same pairs are found, in the order of keys.
func TestSimilarWordingAmongMany(t *testing.T) {
	var all []string
	want := map[string]bool{}
	for i, p := range same {
		all = append(all, p[0], p[1])
		want[fmt.Sprintf("k%04d k%04d", 2*i, 2*i+1)] = true
	}
	last := ""
	for _, d := range duplicatesOf(all...) {
		pair := strings.Join(d.keys[:], " ")
		if !want[pair] {
			t.Errorf("%s: %s taken for the same", pair, d.reason)
		}
		if pair <= last {
			t.Errorf("%s after %s", pair, last)
		}
		delete(want, pair)
		last = pair
	}
	for pair := range want {
		t.Errorf("%s not found among many", pair)
	}
}

// Heads of a store are compared within their namespaces, whatever database they
// stand in; older versions are not.
func TestDuplicatesOfStore(t *testing.T) {
	ctx := context.Background()
	s := memtest.Store(t, "", nil, nil)
	service := tiers.New(s)
	keep := func(namespace, key, summary string) string {
		t.Helper()
		out, err := service.RememberLongTerm(ctx, memd.LocalAdmin(), memd.RememberLongTerm{Namespace: namespace, MemoryKey: key, Summary: summary, Source: "AGENTS.md"})
		if err != nil {
			t.Fatal(err)
		}
		return out.ID
	}
	roll := func() {
		t.Helper()
		if _, err := s.Rollover(ctx); err != nil {
			t.Fatal(err)
		}
	}
	first := keep("team/a", "a", "Always run make test-all before releasing.")
	keep("team/a", "c", "The cache is warm")
	roll()
	keep("team/a", "c", "Nothing like it before") // its old wording is d's
	keep("team/a", "d", "The cache is warm")
	second := keep("team/a", "b", "Before every release, run make test-all")
	keep("team/b", "a", "Before every release, run make test-all")
	equal := keep("team/b", "b", "Before every release, run make test-all")
	found, err := findDuplicates(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0].ids != [2]string{first, second} || found[0].keys != [2]string{"a", "b"} || found[0].reason != similarWording ||
		found[1].namespace != "team/b" || found[1].ids[1] != equal || found[1].reason != equalContent {
		t.Errorf("%+v", found)
	}
}
