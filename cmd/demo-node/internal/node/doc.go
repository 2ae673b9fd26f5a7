// Package node is a peer that serves files and fetches them over measured
// yamux sessions.
//
// Both ends of a session may ask: the one that dialled and the one that
// accepted, each with a stream of its own for each request. What a node needs
// of package mux is one changed import, Meter.Begin around each fetch, and
// Meter.Snapshot to read the result.
package node
