package personal

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// shown is findings as tests write them: "card 4111…", with "?" behind the kind
// of one that is not sure.
func shown(text string) string {
	var all []string
	for _, f := range Scan(text) {
		mark := ""
		if !f.Sure {
			mark = "?"
		}
		all = append(all, fmt.Sprintf("%s%s %s", f.Kind, mark, text[f.Start:f.End]))
	}
	return strings.Join(all, "; ")
}

// The numbers are made up with the right check digits; those that are published
// for tests are nobody's.
func TestScan(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Cards.
		{"card 4539148803436467 on file", "card 4539148803436467"},
		{"卡号：4539 1488 0343 6467", "card 4539 1488 0343 6467"},
		{"卡号 ４５３９１４８８０３４３６４６７", "card ４５３９１４８８０３４３６４６７"},
		{"银行卡6222020000000000000，户名张三", "card 6222020000000000000"},
		{"pay with 5550-7102-4408-1367 please", "card 5550-7102-4408-1367"},
		{"amex 3745 102440 81333", "card 3745 102440 81333"},
		{"card=374510244081333&x=1", ""}, // within an address
		{"card=374510244081333", "card 374510244081333"},
		{"it says 4539148803436467 there", "card? 4539148803436467"},
		{"card 4111111111111112", ""},                           // check digit
		{"card 411111111111111", ""},                            // length
		{"card 9111111111111111", ""},                           // issuer
		{"order-4539148803436467", ""},                          // within an identifier
		{"card_4539148803436467", ""},                           //
		{"card img 4539148803436467.png", ""},                   //
		{"card sha 4539148803436467abcdef", ""},                 //
		{"#4539148803436467 card", ""},                          //
		{"card 0x4539148803436467", ""},                         //
		{"/cards/4539148803436467/x", ""},                       //
		{"card 4111 111111111 111", ""},                         // no grouping of cards
		{"1732968000000 is the card's time", ""},                // milliseconds
		{"1732968000000000000", ""},                             // nanoseconds
		{"card 0000000000000000", ""},                           //
		{"cardinal 4510002200431816", "card? 4510002200431816"}, // no word for a card
		{"4510-0022-0043-1816", "card 4510-0022-0043-1816"},

		// Cards beside others, and in writings of other hands.
		{"cards 4539148803436467 5550710244081367", "card 4539148803436467; card 5550710244081367"},
		{"4539 1488 0343 6467 5550 7102 4408 1367", "card 4539 1488 0343 6467; card 5550 7102 4408 1367"},
		{"4539-1488-0343-6467 5550-7102-4408-1367", "card 4539-1488-0343-6467; card 5550-7102-4408-1367"},
		{"4539148803436467 5550710244081367", "card? 4539148803436467; card? 5550710244081367"},
		{"card 4539148803436467 12/28 123", "card 4539148803436467"},
		{"卡号 4539 1488 0343 6467 124", "card 4539 1488 0343 6467"},
		{"4539148803436467\n5550710244081367", "card? 4539148803436467; card? 5550710244081367"},
		{"card #4539148803436467", "card #4539148803436467"},
		{"Visa no. #4539 1488 0343 6467", "card #4539 1488 0343 6467"},
		{"card 4539.1488.0343.6467", "card 4539.1488.0343.6467"},
		{"4539.1488.0343.6467", ""}, // nothing calls it a card
		{"card 4539 1488\n0343 6467", "card 4539 1488\n0343 6467"},
		{"card 45391488\n03436467", "card 45391488\n03436467"},
		{"卡号：4539 1488 0343\n6467，有效", "card 4539 1488 0343\n6467"},
		{"card table\n45391488\n03436467\n12", ""},      // a column
		{"7 4539 1488 0343 6467 12 99 4", ""},           // a row
		{"1 4539148803436467 2", ""},                    //
		{"card 4539148803436467.5", ""},                 // a fraction
		{"card 4539-1488.0343 6467", ""},                // no grouping of cards
		{"the card #4539148803436468", ""},              // check digit
		{"4242424242424242 4111111111111111 cards", ""}, // published
		{"card issue #4539148803436467", ""},            // a ticket
		{"cards 4539148803436467-5550710244081367", ""}, // within an identifier

		// Resident identity numbers.
		{"身份证 11010519491231002X", "cn-id 11010519491231002X"},
		{"身份证号：440524188001010014", ""}, // born in 1880
		{"id 11010519491231002x.", "cn-id 11010519491231002x"},
		{"110105194912310021", ""},   // check digit
		{"11010519491331002X", ""},   // no such month
		{"99010519491231002X", ""},   // no such region
		{"a11010519491231002X", ""},  //
		{"11010519491231002X7", ""},  //
		{"11010519491231002X-a", ""}, //

		// Account numbers.
		{"IBAN DE62370400440532013777.", "iban DE62370400440532013777"},
		{"pay to GB03 WEST 3020 1640 0188 23, thanks", "iban GB03 WEST 3020 1640 0188 23"},
		{"FR8220041010050500099M02606", "iban FR8220041010050500099M02606"},
		{"DE89370400440532013001", ""}, // check digits
		{"DE8937040044053201300", ""},  // length
		{"ZZ89370400440532013000", ""}, // country
		{"XDE62370400440532013777", ""},
		{"DE62370400440532013777X", ""},

		// E-mail.
		{"ask maria.k+ops@acme.dev.", "email maria.k+ops@acme.dev"},
		{"邮箱zhang.san@acme.com.cn，周一回", "email zhang.san@acme.com.cn"},
		{"<bob@acme.io>", "email bob@acme.io"},
		{"mailto:bob@acme.io", "email bob@acme.io"},
		{"bob@example.com and a@b.example.org", ""},
		{"git@github.com:acme/repo.git", ""},
		{"deploy@web1:/srv", ""},
		{"deploy@db.acme.dev:/srv", ""},
		{"https://bob@acme.dev/x", ""},
		{"npm i left-pad@1.2.3 @types/node@v20.1", ""},
		{"@team please look", ""},
		{"user@host", ""},
		{"foo@bar.service failed", ""},
		{"logo@2x.png", ""},
		{"no-reply@acme.dev", ""},

		// Telephone.
		{"手机 13812345678", "phone 13812345678"},
		{"张三的号码是13812345678。", "phone 13812345678"},
		{"call 138 1234 5678", "phone 138 1234 5678"},
		{"138-1234-5678", "phone 138-1234-5678"},
		{"+86 138 1234 5678", "phone +86 138 1234 5678"},
		{"ring +49 30 901820 at noon", "phone +49 30 901820"},
		{"+1-212-555-0143", "phone +1-212-555-0143"},
		{"tel: 030 901820", "phone 030 901820"},
		{"phone (212) 555-0143", "phone (212) 555-0143"},
		{"电话：010-62345678", "phone 010-62345678"},
		{"phone 212.555.0143", "phone 212.555.0143"},
		{"tel (030) 901820", "phone (030) 901820"},
		{"Tel. (0711) 55 29 43", "phone (0711) 55 29 43"},
		{"电话 (0571) 88123", "phone (0571) 88123"},
		{"f (030) 901820", ""},
		{"call f(12) 901820 times", ""},
		{"value 13812345678 of the counter", "phone? 13812345678"},
		{"订单号 13812345678", "phone? 13812345678"},
		{"order 138-1234-5678", "phone? 138-1234-5678"},
		{"id13812345678", ""},
		{"user-13812345678", ""},
		{"call it on 2026-11-30", ""},
		{"call on 30.11.2026", ""},
		{"phone app 10.12.2026", ""},
		{"call f at 2026-11-30 10:00", ""},
		{"v1.2.3456789", ""},
		{"phone firmware 10.0.12.4567", ""},
		{"mobile build 20261130", ""},
		{"192.168.100.200", ""},
		{"1.212.555.0143", ""},
		{"+1234", ""},
		{"a+12345678", ""},
		{"1732968000", ""},
		{"f(1234567, 89)", ""},
		{"phone 0000000000", ""},

		// Where commands log in to.
		{"ssh deploy@bastion.acme.io -p 2222", ""},
		{"Run `ssh -i ~/.ssh/id_ed25519 deploy@bastion.acme.io` first", ""},
		{"ssh -p 2222 -o StrictHostKeyChecking=no deploy@bastion.acme.io uptime", ""},
		{"ssh -J jump@bastion.acme.io,two@b.acme.io deploy@db1.acme.io", ""},
		{"scp -r dist deploy@web1.acme.io:", ""},
		{"scp dist/app.tar.gz deploy@web1.acme.io", ""},
		{"rsync -avz ./site/ deploy@web1.acme.io:/srv", ""},
		{"git clone deploy@git.acme.io:team/repo.git", ""},
		{"SSH into deploy@bastion.acme.io, then tail the log", ""},
		{"用 ssh deploy@bastion.acme.io 登录", ""},
		{"ProxyJump deploy@bastion.acme.io", ""},
		{"ssh://deploy@bastion.acme.io:2222 and git+ssh://deploy@git.acme.io/x", ""},
		{"deploy@bastion.acme.io -p 2222", ""},
		{"ssh maria@gmail.com", "email maria@gmail.com"}, // a host of mail
		{"for ssh zhang.san@qq.com", "email zhang.san@qq.com"},
		{"ssh maria@gmx.de -p 22", "email maria@gmx.de"},
		{"ssh is open; ask maria@acme.io", "email maria@acme.io"},
		{"for ssh access write maria@acme.io", "email maria@acme.io"},
		{"cat x | mail maria@acme.io -s hi", "email maria@acme.io"},
		{"a@example.co.uk, b@mail.example.io, c@acme.test, d@x.invalid, e@acme.example", ""},
		{"a@myexample.io", "email a@myexample.io"},

		// Published for tests.
		{"card 4242 4242 4242 4242 and 4111111111111111", ""},
		{"use the card 5555555555554444 in the sandbox", ""},
		{"IBAN DE89 3704 0044 0532 0130 00, GB29NWBK60161331926819", ""},

		// Nothing.
		{"", ""},
		{"550e8400-e29b-41d4-a716-446655440000", ""},
		{"sha256:4539148803436467453914880343646745391488034364674539148803436467", ""},
		{"src/x/y.go:342 and 10:30, 3.14159265358979", ""},
	} {
		if diff := cmp.Diff(c.want, shown(c.text)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

// What is published fits, or the list would not be needed.
func TestPublished(t *testing.T) {
	for _, card := range testCards() {
		if !luhn(card) || !issued(card) {
			t.Errorf("%s is no card", card)
		}
	}
	lengths := ibanLengths()
	for _, iban := range exampleIBANs() {
		if !mod97(iban) || lengths[iban[:2]] != len(iban) {
			t.Errorf("%s is no account number", iban)
		}
	}
}

func TestRedact(t *testing.T) {
	text := "card 4539148803436467, mail bob@acme.io, 手机 13812345678"
	want := "card [redacted:card], mail [redacted:email], 手机 [redacted:phone]"
	got := Redact(text, Scan(text))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if left := Scan(got); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if got := Redact("x", nil); got != "x" {
		t.Errorf("%q", got)
	}
}

// Whatever the text, Scan returns places on the bounds of its runes, in order
// and apart; what is redacted often enough is free of them.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		"card 4539148803436467", "卡号４５３９ 1488 0343 6467", "11010519491231002X", "GB03 WEST 3020 1640 0188 23", "a@b.io", "(010) 1234-5678", "+86 138\u200b1234 5678", "\xff+4930901820", "((12)345 6789", "4539148803436467(4539148803436467)@x.yz",
	} {
		f.Add(text)
	}
	for _, unit := range hostile() {
		f.Add(strings.Repeat(unit, 1+200/len(unit)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for range 100 {
			found := Scan(text)
			end := 0
			for _, x := range found {
				if x.Start < end || x.Start >= x.End || x.End > len(text) {
					t.Fatalf("%+v after %d in %q", x, end, text)
				}
				end = x.End
				if utf8.ValidString(text) && (!utf8.RuneStart(text[x.Start]) || end < len(text) && !utf8.RuneStart(text[end])) {
					t.Fatalf("%+v is within a rune of %q", x, text)
				}
			}
			if len(found) == 0 {
				return
			}
			text = Redact(text, found)
		}
		t.Fatalf("%q is never free", text)
	})
}
