// Package behave makes a serving node a bad peer, or a slow honest one, so that
// anyone can watch what the other side makes of it.
//
// A behaviour is a few orthogonal mechanisms, each off where its field is zero,
// and any of them together. What goes out when is a [Behaviour]'s schedule,
// which is pure; the writer and the conn that keep to it are not.
package behave
