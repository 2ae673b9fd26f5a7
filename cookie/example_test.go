package cookie_test

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/assay-mux/assay/cookie"
)

// A connection issues a cookie with an outbound frame and hands every echo back.
func ExampleQueue() {
	var key [16]byte
	rand.Read(key[:])
	rtt := cookie.NewRTT(cookie.DefaultRTTConfig())
	queue := cookie.NewQueue(cookie.DefaultConfig(), key, rtt)

	// Instants are offsets from the start of the session.
	sent := 2 * time.Second
	var payload uint64 // bytes received so far
	value, ok := queue.Issue(sent, payload)
	fmt.Println("issued:", ok, "outstanding:", queue.Len())

	echo := queue.Echo(value, sent+40*time.Millisecond, payload)
	fmt.Println("first echo:", echo.Outcome, echo.RTT)
	echo = queue.Echo(value, sent+41*time.Millisecond, payload)
	fmt.Println("second echo:", echo.Outcome)

	reading := rtt.Reading(sent + time.Second)
	fmt.Println("base:", reading.Base, "p95:", reading.P95, "samples:", reading.Samples)
	// Output:
	// issued: true outstanding: 1
	// first echo: sample 40ms
	// second echo: replay
	// base: 40ms p95: 40ms samples: 1
}

// A peer that does not answer is seen by the age of the oldest cookie, and once
// that is given up, in the high quantile.
func ExampleRTT_Censor() {
	rtt := cookie.NewRTT(cookie.DefaultRTTConfig())
	queue := cookie.NewQueue(cookie.DefaultConfig(), [16]byte{}, rtt)
	queue.Issue(0, 0)

	age, _ := queue.FrontAge(3 * time.Second)
	fmt.Println("front age:", age)
	fmt.Println("skipped:", queue.Expire(5*time.Second, 0))
	reading := rtt.Reading(5 * time.Second)
	fmt.Println("base:", reading.Base, "p95:", reading.P95)
	// Output:
	// front age: 3s
	// skipped: 1
	// base: 0s p95: 5s
}
