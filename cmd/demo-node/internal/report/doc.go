// Package report holds what a pair of nodes found out, as a document with
// stable names and as a table for people.
package report
