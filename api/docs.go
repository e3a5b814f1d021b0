package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"

	"memd"
)

//go:embed docs.html
var docsTemplate string

//go:embed docs.css
var docsStyle string

// page is a page for people and the policy that lets its style in and nothing
// else.
type page struct {
	body   []byte
	policy string
}

// docsPage renders the table of calls and the codes. It loads nothing.
func docsPage(table []route, beside []aside, version string) page {
	type call struct{ Method, Path, Role, Summary string }
	type code struct {
		Code   memd.Code
		Status int
		Title  string
	}
	var data struct {
		Version string
		Style   template.CSS
		Calls   []call
		Codes   []code
	}
	data.Version, data.Style = version, template.CSS(docsStyle)
	for _, rt := range table {
		data.Calls = append(data.Calls, call{rt.method, rt.path, string(rt.role), rt.summary})
	}
	for _, b := range beside {
		data.Calls = append(data.Calls, call{b.method, b.path, "", b.summary})
	}
	for _, c := range codes {
		data.Codes = append(data.Codes, code{c, c.Statuses().HTTP, c.Statuses().Title})
	}
	var b bytes.Buffer
	if err := template.Must(template.New("docs").Parse(docsTemplate)).Execute(&b, data); err != nil {
		panic(err) // the template and its data are fixed when memd is built
	}
	sum := sha256.Sum256([]byte(docsStyle))
	return page{
		body: b.Bytes(),
		policy: "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
			"style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
	}
}
