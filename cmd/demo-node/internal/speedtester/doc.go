// Package speedtester tests peers of the demo node: it connects, reads what the
// peer publishes, measures, reads again, and makes of it what package
// audit/speedtest/report keeps.
//
// Each test has sessions of its own, one of the tester's and one of its exit's, so
// that its bulk changes nothing that a ranker knows of the peer.
package speedtester
