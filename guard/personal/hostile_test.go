package personal

// hostile are what a text may be full of that a careless scanner reads again
// from each place on.
func hostile() []string {
	return []string{"a@", "a@b.co/", "a@b.co ", "@", "1 ", "1", "12-", "(010) 1234-5678 ", "(12)", "4539148803436467 ", "4539148803436467", "13812345678 ",
		"138 1234 5678", "DE", "DE62", "DE62370400440532013777 ", "ssh a@b.co ", "ssh -p 1 a@b.co ", "卡号", "+86 138\u200b1234 5678", "\u200b", "110105194912310021", "card ", "1(1)1", "+1", "4539 1488 0343 6467 ", "4539\n", "4539148803436467\n", "card #", "card 4539.", "tel (030) 90182 "}
}
