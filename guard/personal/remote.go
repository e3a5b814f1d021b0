package personal

import (
	"slices"
	"strings"
)

// maxLook is how far before an address its command is looked for, in bytes.
const maxLook = 200

// remote reports whether user@host is where a command logs in to: it stands
// behind ssh, scp, rsync and their like with nothing but options and paths in
// between, or before a port or a key of one.
func remote(text string, start, end int) bool {
	if mailHost(text[start:end]) {
		return false // nobody logs in there
	}
	before := text[max(0, start-maxLook):start]
	if i := strings.LastIndexAny(before, "\n|;&`$"); i >= 0 {
		before = before[i+1:]
	}
	words := strings.Fields(before)
	if len(words) > 0 && !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\t") {
		words[len(words)-1] = strings.TrimRight(words[len(words)-1], `"'(<=,`) // what opens the address
	}
	for i := len(words) - 1; i >= 0; i-- {
		word := strings.ToLower(strings.Trim(words[i], "\"'()[]{}*`,:="))
		switch {
		case slices.Contains(remoteCommands(), word):
			return true
		case word == "", strings.HasPrefix(word, "-"), i > 0 && strings.HasPrefix(words[i-1], "-"), strings.ContainsAny(word, "/~*@"):
		case slices.Contains([]string{"to", "into", "as", "via", "from", "host", "user", "through"}, word):
		default:
			return optioned(text[end:])
		}
	}
	return optioned(text[end:])
}

// mailHost reports whether an address is of a host that does nothing but mail.
func mailHost(address string) bool {
	host := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
	return slices.Contains(strings.Fields(`gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com yahoo.co.jp ymail.com aol.com icloud.com me.com mac.com proton.me protonmail.com
		gmx.de gmx.net gmx.at gmx.ch web.de t-online.de freenet.de posteo.de mailbox.org zoho.com fastmail.com qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com 139.com 189.cn aliyun.com
		mail.ru yandex.ru naver.com daum.net orange.fr free.fr laposte.net libero.it`), host)
}

func remoteCommands() []string {
	return strings.Fields("ssh scp sftp rsync mosh autossh sshfs sshpass ssh-copy-id clone fetch push pull remote proxyjump jump ansible rclone ssh连接 登录 login ssh登录")
}

// optioned reports whether a port, a key or the like follows an address, as it
// does on the command line of ssh.
func optioned(after string) bool {
	after = strings.TrimLeft(after, "`\"'")
	for _, option := range []string{" -p ", " -P ", " -i ", " -L ", " -R ", " -D ", " -N", " -J ", " -o "} {
		if strings.HasPrefix(after, option) {
			return true
		}
	}
	return false
}
