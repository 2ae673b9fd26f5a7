// Package speedreport shows what a speed test found: as text, and as one HTML page with its plots in
// it that asks the network for nothing.
//
// What is said is made once, as sentences and tables, for both. The plots are drawn by gonum/plot as
// SVG, and coloured by the page, so that they are readable in the dark too.
package speedreport
