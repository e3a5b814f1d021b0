package secrets

import (
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"
	"github.com/zricethezav/gitleaks/v8/report"
)

// ruleGeneric is the library's rule for what has no form of its own. It knows no
// prose, so that its findings are looked at again.
const ruleGeneric = "generic-api-key"

// library finds what the rules of gitleaks know.
type library struct {
	detector *detect.Detector
}

// newLibrary compiles the rules that gitleaks comes with, which takes some 20 ms.
func newLibrary() library {
	// It logs what it finds and skips, values included, to a logger of its own
	// package. Nobody else uses that.
	logging.Logger = zerolog.Nop()

	// Its constructor for these rules reads them into viper's global state.
	v := viper.New()
	v.SetConfigType("toml")
	var file config.ViperConfig
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		panic("secrets: rules of gitleaks: " + err.Error()) // they are embedded: a fault of the build
	}
	if err := v.Unmarshal(&file); err != nil {
		panic("secrets: rules of gitleaks: " + err.Error())
	}
	rules, err := file.Translate()
	if err != nil {
		panic("secrets: rules of gitleaks: " + err.Error())
	}
	d := detect.NewDetector(rules)
	d.IgnoreGitleaksAllow = true // who writes a text does not switch its scan off
	d.MaxDecodeDepth = 0         // views decode, once for all rules
	return library{d}
}

func (l library) ids() []string { return l.detector.Config.OrderedRules }

// find returns what the rules find in text.
func (l library) find(text string) []hit {
	// Without a line break at its end the library misplaces what ends there.
	text += "\n"
	findings := l.detector.DetectString(text)
	if len(findings) == 0 {
		return nil
	}
	lines := lineStarts(text)
	var hits []hit
	for _, f := range findings {
		h, ok := place(text, lines, f)
		if ok && (h.rule != ruleGeneric || isKey(text[:h.start], text[h.start:h.end])) && !crossedOut(text[h.start:h.end]) {
			hits = append(hits, h)
		}
	}
	return hits
}

// lineStarts are what the library counts columns of a line from: its break
// before it, or the start of the text.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i)
		}
	}
	return starts
}

// place finds the secret of a finding by the line and the columns of its match,
// which is what the library tells.
func place(text string, lines []int, f report.Finding) (hit, bool) {
	if f.StartLine >= len(lines) || f.EndLine >= len(lines) {
		return hit{}, false
	}
	start := lines[f.StartLine] + f.StartColumn - 1
	end := lines[f.EndLine] + f.EndColumn
	start, end = max(start, 0), min(end, len(text)-1)
	if start >= end {
		return hit{}, false
	}
	if i := strings.LastIndex(text[start:end], f.Secret); i >= 0 && f.Secret != "" {
		start, end = start+i, start+i+len(f.Secret)
	}
	return hit{f.RuleID, start, end}, true
}
