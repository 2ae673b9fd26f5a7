// Package child plays scenarios in processes of their own, many at a time. The lab and
// the comparison with rivals are tests, for virtual time is there for tests only; a test
// calls its own binary once more for each scenario and seed. Bubbles of one process
// would take turns, for they share yamux's timers; and a scenario that hangs or panics
// takes no other along.
package child
