// Command auditstudy asks the audit's statistics what they do to honest peers and to others, without
// packets: residuals are drawn from a population (population.go) and fed to the real audit package.
//
// It prints how often honest peers are convicted, how soon others are, and how far hostile groups
// move the threshold, each against its bar; it writes plots, and exits with 1 if a bar is missed.
package main
