package cookie

import "time"

// Marker is the bit every cookie has set. Yamux numbers its own pings from 0,
// so that values with it are free for about 2^31 of them.
const Marker Value = 1 << 31

// Vouch takes in a round trip measured otherwise, such as the first answer to a
// stream that was opened. It may lower the base and enters no quantile.
func (r *RTT) Vouch(now, rtt time.Duration) { r.base.observe(now, r.clamp(rtt)) }

// Base returns the least round trip of the base window alone. It is cheaper than
// a Reading, for callers that need it with every echo. 0 before the first.
func (r *RTT) Base() time.Duration { return r.base.value() }
