package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// setting is a value of one constant of the order other than the one in force,
// as a multiple of that. The zero setting is the order in force.
type setting struct {
	constant string
	factor   float64
}

func (s setting) String() string {
	if s.constant == "" {
		return "in force"
	}
	return fmt.Sprintf("%s x %g", s.constant, s.factor)
}

// grid are the settings that -loo tries, one constant at a time around what is
// in force. The retrieval sets decide these constants; the others are decided
// by the pairs of package recall.
func grid() []setting {
	return []setting{
		{"lendNext", 0.75}, {"lendNext", 1.25},
		{"lendBeyond", 0.5}, {"lendBeyond", 1.5},
		{"lendSession", 0.5}, {"lendSession", 1.5},
		{"stopWeighs", 0.5}, {"stopWeighs", 1.5},
		{"passageWeighs", 0.5}, {"passageWeighs", 1.4},
		{"saturation", 0.7}, {"saturation", 1.5},
		{"lengthBias", 0.5}, {"lengthBias", 1.5},
	}
}

// apply returns the source of the order under the setting. The constant must
// stand there once, as a number.
func (s setting) apply(source []byte) ([]byte, error) {
	if s.constant == "" {
		return source, nil
	}
	declared := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(s.constant) + `[ \t]+=[ \t]+([0-9.]+)`)
	found := declared.FindAllSubmatchIndex(source, -1)
	if len(found) != 1 {
		return nil, fmt.Errorf("constant %s stands %d times in the order's source, not once", s.constant, len(found))
	}
	from, to := found[0][2], found[0][3]
	value, err := strconv.ParseFloat(string(source[from:to]), 64)
	if err != nil {
		return nil, fmt.Errorf("constant %s: %w", s.constant, err)
	}
	text := strconv.FormatFloat(value*s.factor, 'g', 6, 64)
	return bytes.Join([][]byte{source[:from], []byte(text), source[to:]}, nil), nil
}

// variants builds this command with other constants and runs it as a process
// of its own, so that memd needs no way to change them. It works within the
// module's sources.
type variants struct {
	dir   string             // for what is built
	data  string             // folder of the sets
	order string             // path of the source of the order
	built map[setting]string // binaries
}

func newVariants(ctx context.Context, dir, data string) (*variants, error) {
	mod, err := output(exec.CommandContext(ctx, "go", "env", "GOMOD"))
	if err != nil {
		return nil, err
	}
	order := filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), "recall", "order.go")
	return &variants{dir, data, order, map[setting]string{}}, nil
}

func (v *variants) measure(ctx context.Context, s setting, set string, every int) (figures, error) {
	if err := present(v.data, set); err != nil {
		return nil, err
	}
	binary, err := v.build(ctx, s)
	if err != nil {
		return nil, err
	}
	line, err := output(exec.CommandContext(ctx, binary, "-data", v.data, "-set", set, "-every", strconv.Itoa(every), "-figures"))
	if err != nil {
		return nil, err
	}
	var f figures
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, fmt.Errorf("figures of %s: %w", s, err)
	}
	return f, nil
}

// build returns the binary of a setting, building it the first time.
func (v *variants) build(ctx context.Context, s setting) (string, error) {
	if binary, ok := v.built[s]; ok {
		return binary, nil
	}
	source, err := os.ReadFile(v.order)
	if err != nil {
		return "", err
	}
	if source, err = s.apply(source); err != nil {
		return "", err
	}
	name := filepath.Join(v.dir, strconv.Itoa(len(v.built)))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {v.order: name + ".go"}})
	if err != nil {
		return "", err
	}
	for path, content := range map[string][]byte{name + ".go": source, name + ".json": overlay} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return "", err
		}
	}
	if _, err := output(exec.CommandContext(ctx, "go", "build", "-overlay", name+".json", "-o", name, "memd/bench/recall")); err != nil {
		return "", err
	}
	v.built[s] = name
	return name, nil
}

// output runs a command; its error holds what the command complained of.
func output(cmd *exec.Cmd) ([]byte, error) {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, complaint.String())
	}
	return out, nil
}
