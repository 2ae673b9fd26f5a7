//go:build !race

package bench_test

// sessions is how many short sessions are opened and closed in each setting.
const sessions = 200
