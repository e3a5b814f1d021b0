package artefacts

import (
	"fmt"
	"strings"
	"testing"

	"memd"
)

var limits = Limits{Summary: 12000, Raw: 64 << 10}

// line is an item in one line: place, kind, what it says and its reasons.
func line(it Item) string {
	s := fmt.Sprintf("%d-%d #%s %s|%s", it.Line, it.Last, it.Anchor, it.Kind, it.Summary)
	for name, text := range map[string]string{"why": it.Why, "raw": it.RawContent} {
		if text != "" {
			s += "|" + name + "=" + text
		}
	}
	if it.HowToApply != "" {
		s += "|how=" + it.HowToApply
	}
	return s
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name string
		file string
		form Form
		text string
		want []string
	}{
		{"items and prose", "AGENTS.md", Agents, "# Guide\n\nA daemon.\n\n## Commands\n\nRun them from the root.\n\n- `make test`: fast\n- `make test-all`: before a\n  release\n\n## Style\n\nTabs.\n\nShort lines.\n", []string{
			"3-3 #guide fact|A daemon.",
			"7-7 #commands rule|Commands: Run them from the root.",
			"9-9 #commands rule|Commands: `make test`: fast",
			"10-11 #commands rule|Commands: `make test-all`: before a release",
			"15-17 #style rule|Style: Tabs.\n\nShort lines.",
		}},
		{"nothing", "AGENTS.md", Agents, "", nil},
		{"crlf, tasks, twice the heading", "AGENTS.md", Agents, "\ufeff# T\r\n\r\n## Never\r\n\r\n- push to main\r\n- [ ] mock the clock\r\n  - not even\r\n    once\r\n\r\n## Never\r\n\r\n1. a b\r\n2. c d\r\n", []string{
			"5-5 #never rule|Never: push to main",
			"6-8 #never rule|Never: mock the clock\n- not even\n  once",
			"12-12 #never-1 rule|Never: a b",
			"13-13 #never-1 rule|Never: c d",
		}},
		{"code", "AGENTS.md", Agents, "## Build\n\n- Run this:\n\n  ```sh\n  # not a heading\n  make   x\n  ```\n- next one\n\n```\n## no\n- no item\n```\n", []string{
			"3-8 #build rule|Build: Run this:\n\n```sh\n# not a heading\nmake   x\n```",
			"9-9 #build rule|Build: next one",
			"11-14 #build rule|Build: ```\n## no\n- no item\n```",
		}},
		{"nested headings", "AGENTS.md", Agents, "# T\n\nTesting\n-------\n\n### Pitfalls\n\n* a **b**\n\n#### 🚀\n\n* deep\n\n### `code` [link](x.md) #\n\ntext\n", []string{
			"8-8 #pitfalls pitfall|Testing › Pitfalls: a **b**",
			"12-12 #pitfalls pitfall|Testing › Pitfalls › 🚀: deep",
			"16-16 #code-link rule|Testing › `code` link: text",
		}},
		{"hidden", "AGENTS.md", Agents, "# T\n\n<!-- never shown -->\n\n- one <!-- hidden\n  words --> two\n- <!-- all -->\n\n<!-- to\nthe end\n\n- no item\n", []string{
			"5-6 #t rule|one two",
		}},
		{"tables", "AGENTS.md", Agents, "## Layout\n\n| a | b |\n|---|---|\n| c | d |\n\n## Empty\n\n## Toc\n\n- [Layout](#layout)\n- ![x](y.png)\n- [docs](docs/a.md)\n\n[ref]: http://x.y\n", []string{
			"3-5 #layout fact|Layout: | a | b |\n|---|---|\n| c | d |",
			"13-13 #toc rule|Toc: [docs](docs/a.md)",
		}},
		{"intro", "AGENTS.md", Agents, "## Deploys\n\nAll go through CI.\n\n**Never do these:**\n\n- skip tests\n- force push\n\nOnly these:\n\n* on Monday\n", []string{
			"3-3 #deploys rule|Deploys: All go through CI.",
			"7-7 #deploys rule|Deploys › Never do these: skip tests",
			"8-8 #deploys rule|Deploys › Never do these: force push",
			"12-12 #deploys rule|Deploys › Only these: on Monday",
		}},
		{"an intro of several sentences", "AGENTS.md", Agents, "## Paths\n\nThere are two. Pick one of these:\n\n- left\n\n这里有两条。选一条：\n\n- 右边\n", []string{
			"3-7 #paths rule|Paths: There are two. Pick one of these:\n\n这里有两条。选一条：",
			"5-5 #paths rule|Paths › Pick one of these: left",
			"9-9 #paths rule|Paths › 选一条: 右边",
		}},
		{"chinese", "AGENTS.md", Agents, "# 项目\n\n## 测试规则\n\n- 提交前运行测试，\n  不要跳过\n\n## 踩坑记录\n\n时钟会回拨。\n\n### 决策\n\n- 用 SQLite\n", []string{
			"5-6 #测试规则 rule|测试规则: 提交前运行测试，不要跳过",
			"10-10 #踩坑记录 pitfall|踩坑记录: 时钟会回拨。",
			"14-14 #决策 decision|踩坑记录 › 决策: 用 SQLite",
		}},
		{"reasons", "AGENTS.md", Agents, "## Rules\n\n- Ask before a deploy\n  **Why:** it broke\n  on Friday\n  **How to apply:** in #ops\n- Say so\n  - Why: people wait\n- why: no rule above\n", []string{
			"3-6 #rules rule|Rules: Ask before a deploy|why=it broke on Friday|how=in #ops",
			"7-8 #rules rule|Rules: Say so|why=people wait",
			"9-9 #rules rule|Rules: why: no rule above",
		}},
		{"nested folder", "api/.agent/AGENT.md", Agents, "- handlers have tests\n", []string{
			"1-1 # rule|handlers have tests|how=Holds for what lies below api/.",
		}},
		{"what looks like a reason", "AGENTS.md", Agents, "- Terraform\n  - Plan: look\n  - Apply: ask first\n", []string{
			"1-3 # rule|Terraform\n- Plan: look\n- Apply: ask first",
		}},
		{"reasons in a nested folder", "api/AGENTS.md", Agents, "- handlers have tests\n  **How to apply:** write one first\n", []string{
			"1-2 # rule|handlers have tests|how=Holds for what lies below api/. write one first",
		}},
		{"includes", "CLAUDE.md", Agents, "@AGENTS.md\n\n@include docs/x.md\n\n# T\n\n- @team owns it\n", []string{
			"7-7 #t rule|@team owns it",
		}},
		{"titles", "AGENTS.md", Agents, "# Pitfalls\n\n- one thing\n\n> quoted\n> # no section\n\n- after it\n", []string{
			"3-3 #pitfalls pitfall|Pitfalls: one thing",
			"5-6 #pitfalls pitfall|Pitfalls: > quoted\n> # no section",
			"8-8 #pitfalls pitfall|Pitfalls: after it",
		}},
		{"html", "AGENTS.md", Agents, "<h2>Of HTML rules</h2>\n\n- below it\n\n<p align=center>\n<img src=x>\n</p>\n", []string{
			"3-3 #of-html-rules rule|Of HTML rules: below it",
		}},
		{"skill", ".agent/skills/deploy/SKILL.md", Skill, "---\nname: deploy\ndescription: >\n  How to deploy,\n  in order\nallowed-tools: [a]\n---\n# Deploying\n\nFirst read this.\n\n1. build it\n2. ship it\n\n## Gotchas\n\n- port 80\n", []string{
			"1-7 # practice|Skill deploy: How to deploy, in order",
			"10-13 #deploying practice|Deploying: First read this.\n\n1. build it\n2. ship it",
			"17-17 #gotchas pitfall|Deploying › Gotchas: port 80",
		}},
		{"broken skill", "SKILL.md", Skill, "---\nname: [\n---\n- still here\n", []string{
			"4-4 # practice|still here",
		}},
		{"rule", ".agent/rules/go.md", Rules, "---\npaths: ['**/*.go', x.py]\n---\nHandle errors.\n", []string{
			"4-4 # rule|Handle errors.|how=Holds for files that match **/*.go, x.py.",
		}},
		{"record", "docs/adr/0007.md", ADR, "# 7. Use SQLite\n\nStatus: in force.\n\n## Context\n\nOne file.\n\n## Decision\n\nSQLite:\n\n- pure Go\n- no cgo\n\n## Consequences\n\nNo server.\n", []string{
			"9-15 #decision decision|7. Use SQLite: SQLite:\n\n- pure Go\n- no cgo|why=One file.|how=No server.",
		}},
		{"madr", "docs/adr/1.md", ADR, "---\nstatus: accepted\n---\n# Pick a queue\n\n## Context and Problem Statement\n\nSlow.\n\n## Decision Drivers\n\n* cost\n\n## Decision Outcome\n\nNATS.\n\n### Consequences\n\n* one more thing\n", []string{
			"14-20 #decision-outcome decision|Pick a queue: NATS.\n\n### Consequences\n\n* one more thing|why=Slow.|how=* one more thing",
		}},
		{"record without sections", "docs/adr/1.md", ADR, "Use tabs\n========\n\n* Status: accepted\n\nTabs it is.\n", []string{
			"1-6 #use-tabs decision|Use tabs: Tabs it is.",
		}},
		{"a table of contents", "AGENTS.md", Agents, "# T\n\n- [a](#a)\n- [b](#b)\n\n## A\n\nx y\n\n## B\n\n## A\n\n- z w\n", []string{
			"8-8 #a rule|A: x y",
			"14-14 #a-1 rule|A: z w",
		}},
		{"open frontmatter", "SKILL.md", Skill, "---\nname: x\n\n# Title\n\ntext here\n", nil},
		{"a rule at the top", "AGENTS.md", Agents, "---\n\ntext here\n", []string{"3-3 # rule|text here"}},
		{"deep", "AGENTS.md", Agents, strings.Repeat("- ", 120) + "x y\n\n- a b\n", []string{
			"3-3 # rule|a b",
		}},
		{"lazy", "AGENTS.md", Agents, "- one\ntwo\n\n\tthree\n+ other list\n", []string{
			"1-4 # rule|one\ntwo\n\nthree",
			"5-5 # rule|other list",
		}},
		{"superseded", "docs/adr/1.md", ADR, "# Old\n\n## Status\n\nAccepted\n\nSuperseded by [2](2.md)\n\n## Decision\n\nX y\n", nil},
		{"proposed", "docs/adr/1.md", ADR, "# New\n\n**Status:** Proposed\n\n## Decision\n\nX y\n", nil},
		{"runbook", "docs/runbooks/db.md", Runbook, "# Database down\n\n## Symptoms\n\n- 500s\n\n## Steps\n\n1. check\n   ```\n   psql\n   ```\n2. restart\n", []string{
			"5-5 #symptoms practice|Database down › Symptoms: 500s",
			"9-13 #steps practice|Database down › Steps: 1. check\n   ```\n   psql\n   ```\n2. restart",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			items, faults := Read(c.file, c.form, []byte(c.text), limits)
			var got []string
			for _, it := range items {
				got = append(got, line(it))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s\n%v", strings.Join(got, "\n"), strings.Join(c.want, "\n"), faults)
			}
		})
	}
	_ = memd.Rule
}
