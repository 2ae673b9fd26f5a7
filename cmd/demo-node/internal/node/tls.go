package node

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/assay-mux/assay/cmd/demo-node/internal/wire"
)

// handshakeLimit is how long a TLS handshake may take. Longer bears with worse
// paths, shorter frees what a silent client holds sooner.
const handshakeLimit = 10 * time.Second

// Errors of the handshake.
var (
	ErrHandshake   = errors.New("TLS handshake failed: does the peer run with --tls too?")
	ErrFingerprint = errors.New("the peer's certificate is not the one pinned with --peer-fingerprint, ask its operator for the right one")
)

// TLS is a node's certificate, and which one it wants of the peers it dials.
type TLS struct {
	cert tls.Certificate
	sum  wire.Hash
	// Pin is the fingerprint the dialled peer must show; zero takes any. Without
	// it the connection is encrypted but the peer is whoever answers: identity is
	// out of scope for a demo that measures.
	Pin wire.Hash
}

// NewTLS makes a self-signed certificate, which lives as long as the process.
func NewTLS() (*TLS, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "demo-node"},
		NotBefore:    now.Add(-time.Hour), // clocks differ
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &TLS{cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, sum: sha256.Sum256(der)}, nil
}

// Fingerprint is the SHA-256 of our certificate, to be pinned by peers.
func (t *TLS) Fingerprint() wire.Hash { return t.sum }

// server encrypts an accepted connection.
func (t *TLS) server(ctx context.Context, conn net.Conn) (net.Conn, error) {
	return shake(ctx, tls.Server(conn, &tls.Config{
		Certificates: []tls.Certificate{t.cert},
		MinVersion:   tls.VersionTLS13,
	}))
}

// client encrypts a dialled connection.
func (t *TLS) client(ctx context.Context, conn net.Conn) (net.Conn, error) {
	return shake(ctx, tls.Client(conn, &tls.Config{
		MinVersion: tls.VersionTLS13,
		// Nobody signs these certificates, so there is no chain to verify; Pin
		// takes its place where it is set.
		InsecureSkipVerify: true,
		VerifyConnection:   t.verify,
	}))
}

func (t *TLS) verify(s tls.ConnectionState) error {
	if t.Pin == (wire.Hash{}) {
		return nil
	}
	if len(s.PeerCertificates) == 0 || sha256.Sum256(s.PeerCertificates[0].Raw) != t.Pin {
		return ErrFingerprint
	}
	return nil
}

// shake completes the handshake, so that its failure is known as such.
func shake(ctx context.Context, conn *tls.Conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	err := conn.HandshakeContext(ctx)
	if errors.Is(err, ErrFingerprint) {
		return nil, ErrFingerprint
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrHandshake, err)
	}
	return conn, nil
}
