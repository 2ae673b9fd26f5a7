package kernelpath

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// carrierEnv tells a process that it is to carry packets.
const carrierEnv = "ASSAY_KERNELPATH_CARRIER"

// devices is the number of the first device's file in the carrier.
const devices = 3

// Carry turns a process that Start started into what carries packets, and never
// returns in it; in any other it does nothing. Whatever calls Start must call it
// first thing in main, or in TestMain.
//
// Why a process: in that of the nodes the thread that carries would now and then
// wait for one of Go's processors, milliseconds while it collects garbage or
// nodes are busy, and that would be measured.
func Carry() {
	if os.Getenv(carrierEnv) == "" {
		return
	}
	runtime.GOMAXPROCS(2) // one that carries, one that is told
	// Packets are used again, so there is no garbage to speak of; and a collection
	// would hold the urgent thread up until one that is not has had its turn.
	debug.SetGCPercent(-1)
	Prefer()
	carry(os.Stdin, os.Stdout)
	os.Exit(0)
}

// order is what the carrier is told: once all of Config, later one peer's path,
// or neither to be asked for a report; Anew has lateness counted from there on.
type order struct {
	Config *Config
	Peer   int
	Path   *Path
	Anew   bool
}

// report is what it answers.
type report struct {
	Peers [][2]Stats // up and down
	Late  Lateness
}

// carry obeys until there are no more orders.
func carry(in io.Reader, out io.Writer) {
	orders, reports := json.NewDecoder(in), json.NewEncoder(out)
	var first order
	if err := orders.Decode(&first); err != nil || first.Config == nil {
		return
	}
	for fd := devices; fd < devices+1+len(first.Config.Paths); fd++ {
		_ = unix.SetNonblock(fd, true)
	}
	l := newLoop(*first.Config)
	go l.run()
	anew := false
	for {
		r := l.report()
		if anew {
			r.Late = l.late.anew()
		}
		if err := reports.Encode(r); err != nil {
			return
		}
		var o order
		if err := orders.Decode(&o); err != nil {
			return
		}
		if o.Path != nil {
			l.peers[o.Peer].up.set.Store(&o.Path.Up)
			l.peers[o.Peer].down.set.Store(&o.Path.Down)
		}
		anew = o.Anew
	}
}

// newLoop is the loop of a configuration over the devices that the carrier has
// been given: the hub's and each peer's.
func newLoop(cfg Config) *loop {
	l := &loop{base: time.Now(), hub: devices}
	for i, p := range cfg.Paths {
		up, down := newLine(p.Up, newDice(cfg.Seed, uint64(2*i))), newLine(p.Down, newDice(cfg.Seed, uint64(2*i+1)))
		l.peers = append(l.peers, &peer{devices + 1 + i, up, down})
		l.lines = append(l.lines, up, down)
	}
	for i, s := range cfg.Shared {
		shared := newLine(s.Direction, newDice(cfg.Seed, uint64(1<<32+i)))
		l.lines = append(l.lines, shared)
		for _, p := range s.Peers {
			l.peers[p].down.next = shared
		}
	}
	return l
}

func (l *loop) report() (r report) {
	for _, p := range l.peers {
		r.Peers = append(r.Peers, [2]Stats{p.up.stats(), p.down.stats()})
	}
	r.Late = l.late.report()
	return r
}

// lateness is how late packets were; one thread notes, any reads.
type lateness struct {
	packets, late, worst, sum atomic.Int64
}

func (l *lateness) note(d time.Duration) {
	l.packets.Add(1)
	l.sum.Add(int64(d))
	if d > time.Millisecond {
		l.late.Add(1)
	}
	if int64(d) > l.worst.Load() {
		l.worst.Store(int64(d))
	}
}

func (l *lateness) report() Lateness {
	out := Lateness{Packets: uint64(l.packets.Load()), Late: uint64(l.late.Load()), Worst: time.Duration(l.worst.Load())}
	if out.Packets > 0 {
		out.Mean = time.Duration(l.sum.Load() / int64(out.Packets))
	}
	return out
}

// anew is the report, after which all counts begin again.
func (l *lateness) anew() Lateness {
	var was lateness
	was.worst.Store(l.worst.Swap(0))
	was.late.Store(l.late.Swap(0))
	was.sum.Store(l.sum.Swap(0))
	was.packets.Store(l.packets.Swap(0))
	return was.report()
}

// carrier is the process that carries, as the one that started it sees it.
type carrier struct {
	cmd *exec.Cmd

	mu      sync.Mutex // guards the conversation
	in      io.WriteCloser
	orders  *json.Encoder
	reports *json.Decoder
}

// startCarrier starts the process with the devices' files.
func startCarrier(cfg Config, files []*os.File) (*carrier, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), carrierEnv+"=1")
	cmd.ExtraFiles = files
	// An interrupt from the terminal is for the one who measures.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &carrier{cmd: cmd, in: in, orders: json.NewEncoder(in), reports: json.NewDecoder(out)}
	if _, err := c.tell(order{Config: &cfg}); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// tell gives an order and returns the report that answers it.
func (c *carrier) tell(o order) (r report, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err = c.orders.Encode(o); err == nil {
		err = c.reports.Decode(&r)
	}
	return r, err
}

// stop ends the process and waits for it.
func (c *carrier) stop() {
	c.in.Close()
	_ = c.cmd.Wait()
}

// Of each period the thread that carries gets so much of a processor, before any
// other thread. More leaves less for other nets at the same time: of two
// processors all that are promised make 1.9 at most.
const (
	share  = 2 * time.Millisecond
	period = 5 * time.Millisecond
)

// urgent lets the thread run before others and wakes it to the microsecond. It
// works for root; where it does not, packets are a little late.
//
// A real-time priority alone would not do: kernels since 6.12 let ordinary threads
// run for 50 ms in each second before such ones, where they would starve, and all
// packets were late by as much (measured, on a busy machine). Deadlines come first.
func urgent() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	err := unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_DEADLINE,
		Flags:   unix.SCHED_FLAG_RESET_ON_FORK | unix.SCHED_FLAG_RECLAIM,
		Runtime: uint64(share), Deadline: uint64(period), Period: uint64(period),
	}, 0)
	if err != nil {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	}
}

// Prefer lets this process run before others on a busy machine, whose turns
// would else be measured too. It works for root.
func Prefer() {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads { // those to come inherit it
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, preferred)
		}
	}
}

// preferred is a nice value: less is sooner, -20 is the least.
const preferred = -15
