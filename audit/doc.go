// Package audit compares what peers deliver with what their own measured rate says they can, and
// tells those that withhold from those that are merely slow.
package audit
