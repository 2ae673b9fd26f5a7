package speedtest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/assay-mux/assay/audit/speedtest"
	"github.com/assay-mux/assay/audit/speedtest/message"
	"github.com/assay-mux/assay/audit/speedtest/policy"
	"github.com/assay-mux/assay/mux"
)

// One node answers tests on the streams that peers open, another measures it,
// with a cap of its own.
func Example() {
	here, there := net.Pipe()
	cfg := mux.DefaultConfig()
	cfg.LogOutput = io.Discard
	us, err := mux.Client(here, cfg)
	if err != nil {
		panic(err)
	}
	peer, err := mux.Server(there, cfg)
	if err != nil {
		panic(err)
	}
	target, err := speedtest.NewResponder(speedtest.ResponderConfig{Policy: policy.Default()})
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			st, err := peer.AcceptStream()
			if err != nil {
				return
			}
			go func() {
				defer st.Close()
				_ = target.Serve(context.Background(), st, policy.Who{Identity: "us", Group: "here"})
			}()
		}
	}()
	res, err := speedtest.Measure(context.Background(), speedtest.Config{
		Near: us, Ways: []message.Way{message.FromTarget}, Length: 2 * time.Second, Rate: 1_000_000,
	})
	if err != nil {
		panic(err)
	}
	rate, _, _ := res.Capacity()
	fmt.Println(rate > 0)
	_, err = speedtest.Measure(context.Background(), speedtest.Config{Near: us, Ways: []message.Way{message.ToTarget}})
	fmt.Println(err != nil)
	us.Close()
	peer.Close()
	// Output:
	// true
	// true
}
