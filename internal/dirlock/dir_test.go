package dirlock

import (
	"strings"
	"testing"

	"memd"
)

func TestJudgeFS(t *testing.T) {
	for _, c := range []struct {
		name    string
		network bool
		allow   bool
		warns   bool
		refuses bool
	}{
		{name: ""},
		{name: "", allow: true},
		{name: "nfs", network: true, refuses: true},
		{name: "nfs", network: true, allow: true, warns: true},
		{name: fuse, warns: true},
		{name: fuse, allow: true, warns: true},
	} {
		warning, err := judgeFS("/data", c.name, c.network, Options{AllowNetworkFS: c.allow})
		if (err != nil) != c.refuses || (warning != "") != c.warns {
			t.Errorf("%+v: warning %q, error %v", c, warning, err)
		}
		if c.warns && !strings.Contains(warning, "/data") {
			t.Errorf("%+v: the warning %q does not name the folder", c, warning)
		}
		if c.refuses && (memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), "nfs")) {
			t.Errorf("%+v: error = %v", c, err)
		}
	}
}
