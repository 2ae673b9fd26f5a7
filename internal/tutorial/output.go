package main

import (
	"fmt"
	"regexp"
	"strings"
)

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// plain is a line without what differs from one run to the next.
func plain(line string) string {
	return strings.Join(strings.Fields(number.ReplaceAllString(line, "N")), " ")
}

// compare says where output is not as wanted; "..." stands for any lines.
func compare(wanted []string, output string) error {
	got := strings.Split(strings.TrimRight(output, "\n"), "\n")
	at, anywhere := 0, false
	for _, w := range wanted {
		if w == "..." {
			anywhere = true
			continue
		}
		found := at
		for anywhere && found < len(got) && plain(got[found]) != plain(w) {
			found++
		}
		if found >= len(got) || plain(got[found]) != plain(w) {
			return fmt.Errorf("expected, after line %d, a line like\n\t%s\nbut it printed\n%s", at, w, output)
		}
		at, anywhere = found+1, false
	}
	if at < len(got) && !anywhere {
		return fmt.Errorf("more lines than expected, from %d on:\n%s", at+1, output)
	}
	return nil
}
