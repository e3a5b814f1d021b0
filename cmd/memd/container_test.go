package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// compose is what docker-compose.yml says, as far as these tests hold it.
type compose struct {
	Services map[string]struct {
		Build       string            `yaml:"build"`
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		Ports       []string          `yaml:"ports"`
		Volumes     []string          `yaml:"volumes"`
		Healthcheck struct {
			Test []string `yaml:"test"`
		} `yaml:"healthcheck"`
		ReadOnly bool `yaml:"read_only"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

// TestComposeNamesWhatExists: no engine runs where these tests do, so each
// path, flag, key and port of the container files is held against the program.
func TestComposeNamesWhatExists(t *testing.T) {
	var file compose
	if err := yaml.Unmarshal([]byte(readFile(t, "docker-compose.yml")), &file); err != nil {
		t.Fatal(err)
	}
	docker := readFile(t, "Dockerfile")
	service, ok := file.Services["memd"]
	if !ok || service.Build != "." || !service.ReadOnly {
		t.Fatalf("no read-only service memd built from here: %+v", file.Services)
	}
	binary := match(t, docker, `COPY --from=build /out/memd (\S+)`)
	if entry := match(t, docker, `ENTRYPOINT \["([^"]+)"\]`); entry != binary {
		t.Errorf("the entry point is %s, the program %s", entry, binary)
	}
	data := match(t, docker, `ENV MEMD_DIR=(\S+)`)
	if len(service.Volumes) != 1 || !strings.HasSuffix(service.Volumes[0], ":"+data) {
		t.Errorf("volumes %v do not hold the data directory %s", service.Volumes, data)
	}
	if name, _, _ := strings.Cut(service.Volumes[0], ":"); !has(file.Volumes, name) {
		t.Errorf("volume %s is not declared", name)
	}
	if user := match(t, docker, `USER (\d+):\d+`); user == "0" {
		t.Error("the container runs as root")
	}
	if !strings.Contains(docker, "CGO_ENABLED=0") || !regexp.MustCompile(`FROM (scratch|gcr.io/distroless/static)`).MatchString(docker) {
		t.Error("no static binary on scratch or distroless")
	}

	for _, probe := range [][]string{service.Healthcheck.Test, strings.Split(strings.ReplaceAll(match(t, docker, `CMD \[("/[^\]]*)\]`), `"`, ""), ", ")} {
		if len(probe) > 0 && probe[0] == "CMD" {
			probe = probe[1:]
		}
		if len(probe) < 3 || probe[0] != binary || probe[1] != "doctor" || probe[2] != "--quick" {
			t.Errorf("the health check is %q", probe)
		}
	}
	port := match(t, docker, `EXPOSE (\d+)`)
	if len(service.Ports) != 1 || service.Ports[0] != "127.0.0.1:"+port+":"+port {
		t.Errorf("ports %v are not %s on the loopback alone", service.Ports, port)
	}
	if service.Command[len(service.Command)-1] != "0.0.0.0:"+port {
		t.Errorf("the command %q does not listen on the port that is published", service.Command)
	}
	containerStarts(t, service.Command, service.Environment)
}

// containerStarts runs the service's command with its environment, on a port
// of the test's choice, and asks the health check.
func containerStarts(t *testing.T, command []string, environment map[string]string) {
	b := newBox(t)
	for key, value := range environment {
		b.env = append(b.env, key+"="+value)
	}
	args := append([]string{}, command...)
	args[len(args)-1] = "0.0.0.0:0"
	d := b.start(b.command(args...))
	b.must("doctor", "--quick")
	d.stop()
	if r := b.run("doctor", "--quick"); r.code == 0 {
		t.Error("the health check passes without a daemon")
	}
	without := newBox(t)
	if r := without.run(args...); r.code == 0 || !strings.Contains(r.err, "tls") {
		t.Errorf("without tls.terminated_elsewhere it exits %d: %s", r.code, r.err)
	}
}

func match(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("nothing matches %s", pattern)
	}
	return m[1]
}

func has(m map[string]any, key string) bool { _, ok := m[key]; return ok }
