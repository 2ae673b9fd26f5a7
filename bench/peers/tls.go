package peers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// TLS returns the two ends of a TLS connection over loopback, the handshake done.
func TLS() (client, server net.Conn, err error) {
	cert, err := certificate()
	if err != nil {
		return nil, nil, err
	}
	c, s, err := TCP()
	if err != nil {
		return nil, nil, err
	}
	far := tls.Server(s, &tls.Config{Certificates: []tls.Certificate{cert}})
	near := tls.Client(c, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // both ends are ours
	done := make(chan error, 1)
	go func() { done <- far.Handshake() }()
	if err := errors.Join(near.Handshake(), <-done); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("peers: %w", err), c.Close(), s.Close())
	}
	return near, far, nil
}

// certificate is one of our own, made once: making it takes longer than a handshake.
var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("peers: %w", err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("peers: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
})
