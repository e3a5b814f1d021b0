package sources

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/html"
)

// Limits on what is fetched.
const (
	maxPage      = 1 << 20 // bytes
	maxHeader    = 64 << 10
	maxRedirects = 5
)

const noURL = "no http or https URL"

// pages fetches the pages that sources name.
type pages struct {
	client  *http.Client
	timeout time.Duration
}

// newPages makes a client that keeps nothing from one page to the next, and sends
// nothing that says who asks.
func newPages(timeout time.Duration) *pages {
	dialer := &net.Dialer{Timeout: timeout, Control: refuseLinkLocal}
	return &pages{timeout: timeout, client: &http.Client{
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("too many redirects")
			}
			req.URL.User = nil
			req.Header.Del("Referer")
			return nil
		},
		Transport: &http.Transport{ // without a proxy, which would dial in memd's stead
			DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader,
		},
	}}
}

// refuseLinkLocal refuses to dial where clouds keep the secrets of a machine.
// Private addresses are dialled: the wiki of a house is a source.
func refuseLinkLocal(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if ip := within(to.Addr().WithZone("").Unmap()); ip.IsLinkLocalUnicast() || slices.Contains(metadata[:], ip) {
		return errors.New("a link-local address")
	}
	return nil
}

// metadata are the addresses of the kind that are not link-local: of AWS, Alibaba
// and Oracle.
var metadata = [...]netip.Addr{
	netip.AddrFrom16([16]byte{0xfd, 0x00, 0x0e, 0xc2, 14: 0x02, 15: 0x54}),
	netip.AddrFrom4([4]byte{100, 100, 100, 200}),
	netip.AddrFrom4([4]byte{192, 0, 0, 192}),
}

// within is the IPv4 address that an IPv6 one leads to by translation (RFC 6052) or
// a tunnel (RFC 3056, RFC 4291 section 2.5.5.1), the address itself elsewhere.
func within(ip netip.Addr) netip.Addr {
	b := ip.As16()
	at := 0
	switch {
	case !ip.Is6():
		return ip
	case [12]byte(b[:12]) == [12]byte{0, 0x64, 0xff, 0x9b}, [12]byte(b[:12]) == [12]byte{} && b[12] != 0:
		at = 12
	case b[0] == 0x20 && b[1] == 0x02:
		at = 2
	default:
		return ip
	}
	return netip.AddrFrom4([4]byte(b[at : at+4]))
}

// Page names the page that a source cites, "" where it cites none that could be
// fetched: what sources of one page have in common.
func Page(source string) string {
	at, err := url.Parse(source)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" {
		return ""
	}
	at.User, at.Fragment, at.RawFragment = nil, "", ""
	return at.String()
}

// look fetches a page and looks for what each of some sources cites of it.
func (p *pages) look(ctx context.Context, page string, cited []string) []Found {
	all := make([]Found, len(cited))
	a, none := p.fetch(ctx, page)
	known := map[string]Found{} // by fragment: each is looked for once
	for i, source := range cited {
		at, err := url.Parse(source)
		switch {
		case none.Why != "":
			all[i] = none
			continue
		case err != nil:
			all[i] = unchecked(Barred, noURL)
			continue
		case ctx.Err() != nil:
			all[i] = unchecked(Away, stopped)
			continue
		}
		fragment, _, _ := strings.Cut(at.EscapedFragment(), ":~:") // what follows is for browsers
		found, ok := known[fragment]
		if !ok {
			found = a.cites(fragment)
			known[fragment] = found
		}
		all[i] = found
	}
	return all
}

// fetch gets a page, or says in none why there is nothing to look in.
func (p *pages) fetch(ctx context.Context, page string) (a answer, none Found) {
	if page == "" {
		return a, unchecked(Barred, noURL)
	}
	within, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	silent := func(why string) Found {
		if ctx.Err() != nil { // whoever asked went away, not the server
			return unchecked(Away, stopped)
		}
		return unchecked(Silent, why)
	}
	req, err := http.NewRequestWithContext(within, http.MethodGet, page, nil)
	if err != nil {
		return a, unchecked(Barred, noURL)
	}
	req.Header.Set("User-Agent", "memd")
	asked := req.URL.Hostname()
	res, err := p.client.Do(req)
	if err != nil {
		return a, silent("the server does not answer")
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		return a, missing("the server says that there is no such page")
	case res.StatusCode/100 != 2:
		return a, silent("the server does not give the page out")
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	if err != nil {
		return a, silent("the server does not answer to the end")
	}
	return answer{res.Request.URL, asked, res.Header.Get("Content-Type"), data}, Found{}
}

// answer is a page.
type answer struct {
	url   *url.URL // after the redirects
	asked string   // the host that was asked
	media string
	data  []byte // one byte more than maxPage where there is more
}

// cites looks for what a fragment, as written, names. A text is hashed; a page of
// HTML is not, for it changes with every visit.
func (a answer) cites(fragment string) Found {
	media, _, _ := mime.ParseMediaType(a.media)
	ext := path.Ext(a.url.Path)
	text := (media == "text/markdown" || media == "text/plain") && isText(a.data)
	if media == "text/markdown" {
		ext = ".md"
	}
	switch cut := len(a.data) > maxPage; {
	case strings.HasPrefix(fragment, "/"), strings.HasPrefix(fragment, "!"):
		return unchecked(There, "the fragment names no element of a page")
	case media == "text/html" && fragment != "", media == "application/xhtml+xml" && fragment != "":
		return a.element(unescaped(fragment), cut)
	case fragment == "" && (cut || !text):
		return stands("")
	case cut:
		return unchecked(There, "larger than what is read of a page")
	case !text:
		return unchecked(There, notText)
	}
	section, gone := Path{File: "page" + ext, Anchor: fragment, Anchored: fragment != ""}.cited(plain(a.data))
	if gone != "" {
		return a.lacks()
	}
	return stands(hash(section))
}

// element looks for an element of HTML by its name. Where scripts draw what a
// browser shows there is no telling.
func (a answer) element(name string, cut bool) Found {
	text, named := string(a.data), false
	for _, t := range tagsOf(text) {
		for _, id := range t.ids {
			named = true
			if slices.Contains(names(name), id) {
				return stands("")
			}
		}
	}
	switch {
	case cut:
		return unchecked(There, "larger than what is read of a page")
	case !named, lineAnchor.MatchString(name), drawn(text, name):
		return unchecked(There, "a page that is drawn by scripts")
	}
	return a.lacks()
}

// lacks is what is found where a page does not have what is cited. Another host's
// page may be one to sign in at.
func (a answer) lacks() Found {
	if !strings.EqualFold(a.url.Hostname(), a.asked) {
		return unchecked(Silent, "another host answers")
	}
	return missing(noSection)
}

// drawn reports whether scripts make what a page of HTML shows: it has some and
// shows nothing without them, or one of them knows the name.
func drawn(text, name string) bool {
	shows, scripts, knows, within := false, false, false, ""
	scan(text, func(z *html.Tokenizer, kind html.TokenType, _, _ int) {
		switch kind {
		case html.StartTagToken:
			tag, _ := z.TagName()
			within = string(tag)
			scripts = scripts || within == "script"
		case html.EndTagToken:
			within = ""
		case html.TextToken:
			raw := string(z.Raw())
			knows = knows || within == "script" && wordIn(raw, name, 0) >= 0
			shows = shows || !slices.Contains([]string{"script", "style", "title", "noscript"}, within) && strings.TrimSpace(raw) != ""
		}
	})
	return knows || scripts && !shows
}
