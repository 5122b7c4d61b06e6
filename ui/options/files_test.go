package options

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// parseCode is the exit code of Parse and what it says.
func parseCode(args ...string) (int, string) {
	var diag strings.Builder
	_, code := Parse(args, func(string) string { return "" }, io.Discard, &diag)
	return code, diag.String()
}

// certificate is one in PEM.
func certificate(t *testing.T) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// What lies under the address of a unix socket must be one, unless nothing does:
// the server may still come.
func TestSocketFiles(t *testing.T) {
	dir, err := os.MkdirTemp("", "tp") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, sock := filepath.Join(dir, "file"), filepath.Join(dir, "sock")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name, path string
		code       int
		says       string
	}{
		{"a socket", sock, GoOn, ""},
		{"a socket and a prefix", sock + ":/v1", GoOn, ""},
		{"nothing yet", filepath.Join(dir, "later"), GoOn, ""},
		{"a file", file, ExitUsage, "/file' is a file, not a unix socket\n"},
		{"a file and a prefix", file + ":/v1", ExitUsage, "/file' is a file, not a unix socket\n"},
		{"a folder", dir, ExitUsage, "is a folder, not a unix socket\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, diag := parseCode("report", "unix://"+c.path)
			if code != c.code || !strings.HasSuffix(diag, c.says) || c.says == "" && diag != "" {
				t.Errorf("exit %d, %q; want %d and %q", code, diag, c.code, c.says)
			}
		})
	}
}

// A file of certificates holds at least one.
func TestCertificateFiles(t *testing.T) {
	good := certificate(t)
	block, _ := pem.Decode(good)
	for _, c := range []struct {
		name string
		pem  []byte
		code int
	}{
		{"one", good, GoOn},
		{"none", nil, ExitUsage},
		{"the key alone", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: block.Bytes}), ExitUsage},
		{"without its wrapping", block.Bytes, ExitUsage},
		{"cut short", good[:len(good)/2], ExitUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(path, c.pem, 0o600); err != nil {
				t.Fatal(err)
			}
			code, diag := parseCode("report", "https://h:1", "--cacert", path)
			if code != c.code || code == ExitUsage && (strings.Count(diag, "\n") != 1 || !strings.Contains(diag, "holds no certificate")) {
				t.Errorf("exit %d, %q; want %d", code, diag, c.code)
			}
		})
	}
}
