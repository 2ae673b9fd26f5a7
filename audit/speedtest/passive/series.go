package passive

// mostASecond bounds what a second may count, far beyond any link, so that no sum overflows.
const mostASecond = 1 << 50

// series is one direction of one kind of traffic: the last seconds one by one, and for each bucket the
// best run of seconds that ended in it and all its bytes.
type series struct {
	open   int64   // bytes of the second under way
	recent []int64 // bytes of the last finished seconds, a ring
	next   int     // where in it the next one goes
	sum    int64   // of recent
	best   []int64 // by bucket, a ring: the largest sum
	total  []int64 // by bucket: the bytes of its seconds
}

func newSeries(seconds, buckets int) series {
	return series{recent: make([]int64, seconds), best: make([]int64, buckets), total: make([]int64, buckets)}
}

func (s *series) add(n int64) { s.open = min(s.open+min(n, mostASecond), mostASecond) }

// finish ends the second under way, which lies in a bucket.
func (s *series) finish(bucket int) {
	s.sum += s.open - s.recent[s.next]
	s.recent[s.next] = s.open
	s.next = (s.next + 1) % len(s.recent)
	s.best[bucket] = max(s.best[bucket], s.sum)
	s.total[bucket] += s.open
	s.open = 0
}

// rate is the best of all buckets, in bytes per second.
func (s *series) rate() int64 {
	var most int64
	for _, sum := range s.best {
		most = max(most, sum)
	}
	return most / int64(len(s.recent))
}

// bytes are those of all buckets. A float, for they may be more than an int64 holds.
func (s *series) bytes() float64 {
	var sum float64
	for _, n := range s.total {
		sum += float64(n)
	}
	return sum
}
