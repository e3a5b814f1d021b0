package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"memd"
)

// pair plants two rows of which the first must stand before the second. The
// pairs decide the constants of order.go: a change there that turns one of
// them is wrong, or the pair is.
type pair struct {
	name   string
	query  string
	first  memd.Memory
	second memd.Memory
	more   []memd.Memory // what else stands in the store
	filler int           // and how many rows of everyday business
	fate   fate          // of the second row
}

type fate int

const (
	below   fate = iota // the second row may be absent
	kept                // it must stand among the results
	missing             // it must not
)

func TestPairs(t *testing.T) {
	if n := len(englishPairs); n != 30 {
		t.Errorf("%d English pairs, want 30", n)
	}
	if n := len(chinesePairs); n != 30 {
		t.Errorf("%d Chinese pairs, want 30", n)
	}
	t.Run("english", func(t *testing.T) { testPairs(t, englishPairs, englishFiller) })
	t.Run("chinese", func(t *testing.T) { testPairs(t, chinesePairs, chineseFiller) })
}

func testPairs(t *testing.T, pairs []pair, filler func(int) []memd.Memory) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			h := newHouse(t)
			h.put(filler(p.filler)...)
			h.put(p.more...)
			planted := h.put(p.second, p.first) // in this order a tie goes the wrong way
			checkPair(t, h.recall(memd.Query{Query: p.query, Limit: ptr(100), Explain: true}), planted[1], planted[0], p.fate)
		})
	}
}

func checkPair(t *testing.T, answer memd.Answer, firstID, secondID string, want fate) {
	t.Helper()
	found := ids(answer.Results)
	first, second := slices.Index(found, firstID), slices.Index(found, secondID)
	switch {
	case first < 0:
		t.Errorf("the first row was not found")
	case second < 0 && want == kept:
		t.Errorf("the second row was not found")
	case second >= 0 && want == missing:
		t.Errorf("the second row is among the results")
	case second < 0 || first < second:
		return
	default:
		t.Errorf("the second row stands before the first")
	}
	for i, hit := range answer.Results[:min(len(answer.Results), 8)] {
		t.Logf("%d. %.4f %+v [%s] %s", i+1, hit.Score, *hit.Breakdown, hit.Tier, hit.Summary)
	}
}

// englishFiller is the business of n days: rows that share the common words of
// the pairs and answer none of their questions.
func englishFiller(n int) []memd.Memory {
	templates := []string{
		"Deploy of the %s service to staging finished, build %d, all checks green",
		"The %s service must listen on its new port after build %d, team informed",
		"Weekly meeting about the %s tests and the release, %d tickets closed",
		"Code review for the %s config: style fixed, build %d is running",
		"The %s team run the tests again, %d passed on the main branch",
	}
	return fill(n, templates, []string{"billing", "search", "login", "report", "mail", "export", "cart"})
}

func chineseFiller(n int) []memd.Memory {
	templates := []string{
		"%s服务部署到预发环境完成,构建 %d,检查全部通过",
		"%s接口的文档已经更新,第 %d 版,通知了团队",
		"周会讨论%s测试和发布计划,关闭了 %d 个问题",
		"%s配置代码评审:格式已修改,构建 %d 正在运行",
		"%s团队重新运行测试,主分支通过 %d 个用例",
	}
	return fill(n, templates, []string{"账单", "搜索", "登录", "报表", "邮件", "导出", "购物车"})
}

func fill(n int, templates, subjects []string) []memd.Memory {
	rows := make([]memd.Memory, n)
	for i := range rows {
		text := fmt.Sprintf(templates[i%len(templates)], subjects[i%len(subjects)], 1000+i)
		rows[i] = short(text, importance(1+i%10), daysAgo(i%20))
	}
	return rows
}
