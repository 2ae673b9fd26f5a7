package lab

import (
	"sync"
	"time"
)

// alarm broadcasts a condition at an instant. It is set to the earliest instant
// asked for; those who wait look, and ask again. All methods need the lock of
// the condition.
type alarm struct {
	cond  *sync.Cond
	at    time.Duration // what the timer is set to; never if it is not
	timer *time.Timer   // made on first use, in the bubble of its user
}

func newAlarm(cond *sync.Cond) alarm { return alarm{cond: cond, at: never} }

// arm asks for a broadcast at an instant, or earlier.
func (a *alarm) arm(now, at time.Duration) {
	if at >= a.at {
		return
	}
	a.at = at
	if a.timer == nil {
		a.timer = time.AfterFunc(at-now, a.ring)
		return
	}
	a.timer.Reset(at - now)
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.at = never
}

func (a *alarm) ring() {
	a.cond.L.Lock()
	defer a.cond.L.Unlock()
	a.at = never
	a.cond.Broadcast()
}
