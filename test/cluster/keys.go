/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// keys are the files that API server, proxy and managers need.
type keys struct {
	// certificate is for 127.0.0.1, signed by itself, in tls.crt and tls.key of dir.
	certificate tls.Certificate
	pem         []byte
	dir         string
	// accounts signs the tokens of service accounts.
	accounts string
}

func makeKeys(dir string) (*keys, error) {
	k := &keys{dir: dir, accounts: filepath.Join(dir, "accounts.key")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of keys: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(30 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	accounts, err := x509.MarshalECPrivateKey(key) // the only form of such a key that kube-apiserver reads
	if err != nil {
		return nil, fmt.Errorf("encoding the key of service accounts: %w", err)
	}
	k.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	privatePEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for file, content := range map[string][]byte{
		filepath.Join(dir, "tls.crt"): k.pem,
		filepath.Join(dir, "tls.key"): privatePEM,
		k.accounts:                    pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: accounts}),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, fmt.Errorf("writing %s: %w", file, err)
		}
	}
	if k.certificate, err = tls.X509KeyPair(k.pem, privatePEM); err != nil {
		return nil, fmt.Errorf("loading the certificate: %w", err)
	}
	return k, nil
}
