//go:build race

package speedtest

// heavy is how many times less the heaviest tests do.
const heavy = 5
