package dates

// hostile are what a text may be full of that a careless reader reads again from
// each place on.
func hostile() map[string]string {
	return map[string]string{
		"days": "tomorrow ", "weekdays": "on Thursday ", "weekdays in a row": "Thursday, ", "weekday lines": "Thursday\n", "every": "every Friday ", "in": "in three ", "counts": "3 ",
		"qualifiers": "next ", "weeks": "next week ", "backticks": "`", "backticks and days": "` Friday ``", "fences": "```\n", "opened fences": "~~~\nday\n", "quotations": "> day\n",
		"comments": "<!-- day ", "brackets": "(", "wide brackets": "（", "dates": "(2026-12-03)", "dates and days": "Friday (2026-12-03) ", "halves of dates": "(2026-12-07 to day ", "marks": `"`, "commas": "Friday,,", "letters": "day",
		"chinese days": "明天", "chinese weekdays": "周四", "chinese weeks": "下周", "chinese counts": "三", "chinese counted": "三天后", "chinese prefixes": "上上", "chinese every": "每周四", "chinese clauses": "下周四，", "chinese range": "周一到",
		"broken utf-8": "\xffday", "zero width": "\u200bday", "lines": "\nday", "stops": "day.", "verbs": "we shipped Thursday ", "dots": "day...", "spaces": "               ", "spaces and days": "            day", "apostrophes": "Friday's'", "after": "Friday after next ", "the": "the Friday ",
	}
}
