package stats

import "math"

// Worse is the one-sided p-value of Fisher's exact test that the second of two
// samples fails at a higher rate than the first: the chance of so many of the
// failures falling to it, or more, were both rates the same. Below 0.05 it is
// worse at the 5 % level. Exact for any counts; 1 where there is nothing to
// tell from.
func Worse(failures1, n1, failures2, n2 int) float64 {
	all := failures1 + failures2
	p := 0.0
	for k := failures2; k <= min(all, n2); k++ {
		if all-k > n1 {
			continue
		}
		p += math.Exp(logChoose(n2, k) + logChoose(n1, all-k) - logChoose(n1+n2, all))
	}
	return min(p, 1)
}
