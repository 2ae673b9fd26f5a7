package kernelstudy

import (
	"os"
	"strconv"
	"strings"

	"github.com/assay-mux/assay/internal/lab/kernelpath"
)

// Exits is how often senders under CUBIC left slow start before any loss: because
// acknowledgements came later than before, which a late emulator brings about as
// well as a queue, or because a window of them took half a round trip. 0 where the
// kernel does not say.
type Exits struct{ Delay, Train int }

// exits reads them of a host.
func exits(h *kernelpath.Host) (e Exits) {
	_ = h.Do(func() error {
		b, err := os.ReadFile("/proc/thread-self/net/netstat")
		if err == nil {
			e = parseExits(string(b))
		}
		return err
	})
	return e
}

// parseExits finds them in the kernel's counters: a line of names, and one of
// values.
func parseExits(netstat string) (e Exits) {
	lines := strings.Split(netstat, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		for k := 0; k < min(len(names), len(values)); k++ {
			n, _ := strconv.Atoi(values[k])
			switch names[k] {
			case "TCPHystartDelayDetect":
				e.Delay = n
			case "TCPHystartTrainDetect":
				e.Train = n
			}
		}
	}
	return e
}
