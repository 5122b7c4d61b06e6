package options

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// checkFiles looks at the files that the probe will need, so that a wrong one is
// told before anything starts.
func (o *Options) checkFiles() error {
	if o.MetricsTable != "" {
		if _, err := readSmall(o.MetricsTable, 1<<20); err != nil {
			return fmt.Errorf("--metrics-table: %w", err)
		}
	}
	if o.CACert != "" {
		pem, err := readSmall(o.CACert, 16<<20)
		if err != nil {
			return fmt.Errorf("--cacert: %w", err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM([]byte(pem)) {
			return fmt.Errorf("--cacert: %s holds no certificate in PEM, such as begins with -----BEGIN CERTIFICATE-----", quote(o.CACert))
		}
	}
	for _, raw := range o.URLs {
		if err := checkSocketFile(raw); err != nil {
			return err
		}
	}
	return nil
}

// checkSocketFile refuses the address of a unix socket where something else
// lies. Where nothing does, the server may still come.
func checkSocketFile(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "unix" {
		return nil // checked when it was read
	}
	path, _, _ := strings.Cut(u.Path, ":/")
	path = strings.TrimRight(path, ":/")
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeSocket != 0 {
		return nil
	}
	kind := "a file"
	if info.IsDir() {
		kind = "a folder"
	}
	return usagef("%s is %s, not a unix socket", quote(path), kind)
}
