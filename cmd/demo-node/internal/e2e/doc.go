// Command e2e holds the metrics, rules and dashboards against a real Prometheus:
// `make e2e`.
//
// It starts a cast of honest and bad peers, a campaign of speed tests that waits
// for its notice to pass, and a Prometheus with the configuration in monitoring/.
// Once the cast is at rest, what Prometheus has is compared with the node's own
// snapshot, series by series; the rules must evaluate, the alerts that fire must be
// the right ones and no others, and each query of each dashboard must return data.
// promtool checks the files and what the nodes serve.
//
// Prometheus comes from PATH, or is taken out of Debian's package, without
// installing it, which would start a server. Where it cannot be had the program
// says that nothing was tried, and ends well.
package main
