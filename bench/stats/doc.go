// Package stats has the few statistics that the comparisons rest on: medians
// with a bound that assumes no distribution, and Fisher's exact test.
//
// Timings on a shared machine are skewed and heavy-tailed, so that means and
// normal bounds mislead. A median's bound by order statistics holds for any
// distribution (H. A. David, H. N. Nagaraja, Order Statistics, 3rd ed., 7.1).
package stats
