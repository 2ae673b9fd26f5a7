package speedtest

// Heavy is how many times less the heaviest tests do.
const Heavy = heavy
