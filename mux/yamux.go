package mux

import "github.com/hashicorp/yamux"

// Everything a program uses of github.com/hashicorp/yamux is here under the
// same name, so that changing the import path is the whole change.
type (
	// Config is yamux's session configuration.
	Config = yamux.Config
	// Stream is a yamux stream. Its Session method returns the yamux session
	// inside ours.
	Stream = yamux.Stream
	// Logger is what Config.Logger takes.
	Logger = yamux.Logger
	// NetError is the type of ErrTimeout.
	NetError = yamux.NetError
)

// The errors of yamux, the same values.
var (
	ErrInvalidVersion         = yamux.ErrInvalidVersion
	ErrInvalidMsgType         = yamux.ErrInvalidMsgType
	ErrSessionShutdown        = yamux.ErrSessionShutdown
	ErrStreamsExhausted       = yamux.ErrStreamsExhausted
	ErrDuplicateStream        = yamux.ErrDuplicateStream
	ErrRecvWindowExceeded     = yamux.ErrRecvWindowExceeded
	ErrTimeout                = yamux.ErrTimeout
	ErrStreamClosed           = yamux.ErrStreamClosed
	ErrUnexpectedFlag         = yamux.ErrUnexpectedFlag
	ErrRemoteGoAway           = yamux.ErrRemoteGoAway
	ErrConnectionReset        = yamux.ErrConnectionReset
	ErrConnectionWriteTimeout = yamux.ErrConnectionWriteTimeout
	ErrKeepAliveTimeout       = yamux.ErrKeepAliveTimeout
)

// DefaultConfig returns yamux's default configuration. Its receive window of
// 256 KiB a stream caps a download at 256 KiB a round trip; the meter shows
// such waits as our own. Raise its MaxStreamWindowSize to twice the rate times
// the round trip of the best peers before Client or Server: 16 << 20 covers
// 100 MB/s at 80 ms.
func DefaultConfig() *Config { return yamux.DefaultConfig() }

// VerifyConfig checks a configuration as yamux does.
func VerifyConfig(config *Config) error { return yamux.VerifyConfig(config) }
