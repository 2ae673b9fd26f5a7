//go:build race

package bench_test

// sessions is how many short sessions are opened and closed in each setting:
// fewer under the race detector, which makes each several times slower.
const sessions = 50
