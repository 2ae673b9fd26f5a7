// Package store keeps files by their SHA-256: a Store offers those of a
// directory, an Incoming takes one in.
//
// A file that arrives is written under a temporary name in the directory where
// it shall stay, and takes its own name only once its hash has been found
// right. So whatever ends a transfer, a name that is a hash holds the whole
// file or nothing.
package store
