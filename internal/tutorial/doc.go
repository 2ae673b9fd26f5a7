// Command tutorial does what docs/tutorial.md tells its reader to do, from the
// text itself: it writes the files, makes the edits, runs the program at each
// step and compares what it prints. So a tutorial that no longer works fails.
//
//	go run ./internal/tutorial [-check] docs/tutorial.md
//
// It reads fenced blocks, and of those only such that say what they are:
//
//	```go NAME        the whole file NAME
//	```diff NAME      an edit of NAME: the lines with a space or a minus must be in
//	                  it once, and become those with a space or a plus
//	```console        "$ go run ." and what it prints, in which any number stands
//	                  for any other, and a line of three dots for any lines
//
// The files go to build/_tutorial, within this module, so that they need no
// module of their own; and the underscore keeps them out of ./... there.
package main
