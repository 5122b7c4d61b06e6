package accuracy

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

//go:embed clients/client.c
var sourceC string

//go:embed clients/client.py
var sourcePython string

// What the Python clients are measured with.
const (
	aiohttp = "aiohttp==3.14.5"
	uvloop  = "uvloop==0.22.1"
)

// Names of the yardsticks.
const (
	nameCUser   = "C, epoll, stamp in user space"
	nameCKernel = "C, epoll, kernel stamps"
	nameParsed  = "aiohttp, as `vllm bench serve`"
	nameArrival = "aiohttp, as AIPerf"
)

// buildC compiles the C client.
func buildC(ctx context.Context, dir string) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", errors.New("there is no C compiler")
	}
	src, bin := filepath.Join(dir, "client.c"), filepath.Join(dir, "client")
	if err := os.WriteFile(src, []byte(sourceC), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.CommandContext(ctx, cc, "-O2", "-o", bin, src).CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the C client: %w: %s", err, lastLine(string(out)))
	}
	return bin, nil
}

// buildPython makes an environment with aiohttp in it.
func buildPython(ctx context.Context, dir string) (python string, err error) {
	py, err := exec.LookPath("python3")
	if err != nil {
		return "", errors.New("there is no python3")
	}
	venv := filepath.Join(dir, "venv")
	python = filepath.Join(venv, "bin", "python")
	for _, cmd := range [][]string{
		{py, "-m", "venv", venv},
		{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", aiohttp, uvloop},
	} {
		if out, err := exec.CommandContext(ctx, cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("install %s: %w: %s", aiohttp, err, lastLine(string(out)))
		}
	}
	return python, os.WriteFile(filepath.Join(dir, "client.py"), []byte(sourcePython), 0o600)
}

// inC is the C client, with its stamps taken by whom.
func inC(bin, name, whom string) client {
	can := func(t Transport) bool { return t == HTTP || t == Distant || t == Unix && whom == "user" }
	return client{Name: name, can: can, run: func(ctx context.Context, t *target, l Load) (ran, error) {
		u, err := url.Parse(t.where)
		if err != nil {
			return ran{}, err
		}
		host, port := u.Hostname(), u.Port()
		if t.Transport == Unix {
			host, port = u.Path, "0"
		}
		return execute(ctx, t, l, bin, host, port, l.Model, strconv.Itoa(l.Streams), strconv.Itoa(l.Tokens), l.stagger(), whom)
	}}
}

// inPython is a Python client that stamps in the given way.
func inPython(python, dir, name, way string) client {
	can := func(t Transport) bool { return t != HTTP2 }
	return client{Name: name, can: can, run: func(ctx context.Context, t *target, l Load) (ran, error) {
		args := []string{filepath.Join(dir, "client.py"), t.where, l.Model, strconv.Itoa(l.Streams), strconv.Itoa(l.Tokens), l.stagger(), way}
		if t.ca != "" {
			args = append(args, t.ca)
		}
		return execute(ctx, t, l, python, args...)
	}}
}
