// Package shape decides when the segments of one direction of a simulated path
// arrive: a serializer, a congestion window, a delay, and what TCP makes of losses.
// Package lab describes the model and makes a net.Conn of it.
//
// It is a state machine without clock, goroutine or lock: instants come as
// arguments, and all follows from them, the sizes and a seed. That is what makes
// the model testable to the nanosecond.
package shape
