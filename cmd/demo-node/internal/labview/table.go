package labview

import (
	"fmt"
	"strings"
	"time"

	"github.com/assay-mux/assay/ranking"
)

// Table is the peers in the order of their rank, below a line of progress, as
// lines of at most so many columns and rows. Rank is what the ranker says of the
// connected ones, the best first.
func (v *View) Table(now time.Duration, rank []ranking.Standing, columns, rows int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	grid := [][]string{{"", "peer", "picks", "RTT", "rate", "expected", "predicted", "actual", "", "verdict"}}
	listed := map[string]bool{}
	for i, s := range rank {
		listed[s.Peer] = true
		grid = append(grid, v.ranked(i+1, s))
	}
	for _, name := range v.order {
		if p := v.peers[name]; !listed[name] && !p.there {
			grid = append(grid, []string{"-", v.name(name), fmt.Sprint(p.picks), "", "", "", seconds(p.predicted), seconds(p.took), "", "has left"})
		}
	}
	out := append([]string{v.progress(now), "  " + v.status}, layout(grid)...)
	if rows = max(rows, 4); len(out) > rows {
		more := len(out) - rows + 1
		out = append(out[:rows-1], fmt.Sprintf("    and %d more", more))
	}
	for i := range out {
		out[i] = cut(out[i], columns)
	}
	return out
}

// ranked is the row of a peer. Needs mu.
func (v *View) ranked(n int, s ranking.Standing) []string {
	p := v.peer(s.Peer)
	rate := "-"
	if s.Rate > 0 {
		rate = bits(s.Rate.BytesPerSecond() * 8)
	}
	ratio := ""
	if p.predicted > 0 && p.took > slow*p.predicted {
		ratio = fmt.Sprintf("%.1fx", float64(p.took)/float64(p.predicted))
	}
	return []string{
		fmt.Sprint(n), v.name(s.Peer), fmt.Sprint(p.picks), millis(s.BaseRTT), rate,
		seconds(s.Expected), seconds(p.predicted), seconds(p.took), ratio, judged(s),
	}
}

// judged is a peer's verdict, with its reason where there is one.
func judged(s ranking.Standing) string {
	text := strings.ReplaceAll(s.Verdict.Kind.String(), "_", " ")
	if s.Verdict.Kind > 0 {
		text += ": " + s.Verdict.Reason()
	}
	switch {
	case s.Demoted:
		return "DEMOTED, " + text
	case s.Completions+s.Failures == 0:
		return "unknown yet"
	case s.Penalty >= 1.05:
		return fmt.Sprintf("%s; failures and slowness count %.1fx", text, s.Penalty)
	}
	return text
}

// progress is the line above the table. Needs mu.
func (v *View) progress(now time.Duration) string {
	u, all := v.user, v.s.Workload.Fetches
	const wide = 20
	done := wide * u.ended / max(all, 1)
	mean := "-"
	if u.ended > 0 {
		mean = seconds(u.waited / time.Duration(u.ended))
	}
	return fmt.Sprintf("%7s  [%s%s] %d of %d fetches, mean wait %s, %d failed, %d of adversaries",
		clock(now), strings.Repeat("#", done), strings.Repeat(".", wide-done), u.ended, all, mean, u.failed, u.bad)
}

// Progress is a line that says how far the run is.
func (v *View) Progress(now time.Duration, rank []ranking.Standing) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var names []string
	for _, s := range rank {
		if len(names) == mostNamed {
			names = append(names, "...")
			break
		}
		names = append(names, v.name(s.Peer))
	}
	return v.progress(now) + "; ranking: " + strings.Join(names, ", ")
}

// mostNamed is how many peers a line of progress names.
const mostNamed = 8

// layout makes columns of cells: the second and the last to the left, the others to
// the right.
func layout(grid [][]string) []string {
	widths := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	last := len(widths) - 1
	var out []string
	for _, row := range grid {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			switch {
			case i == last:
				b.WriteString(cell)
			case i == 1:
				b.WriteString(cell + pad + "  ")
			default:
				b.WriteString(pad + cell + "  ")
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// cut is a line that fits.
func cut(line string, columns int) string {
	if r := []rune(line); columns > 0 && len(r) > columns {
		return string(r[:max(columns-1, 0)]) + "…"
	}
	return line
}
