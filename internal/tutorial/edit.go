package main

import (
	"errors"
	"fmt"
	"strings"
)

// errEdit is that of an edit which does not fit.
var errEdit = errors.New("the edit does not fit the file")

// edit applies the lines of a diff block to a file's text. A line of @@ parts
// one edit from the next.
func edit(text string, lines []string) (string, error) {
	for len(lines) > 0 {
		n := 0
		for n < len(lines) && !strings.HasPrefix(lines[n], "@@") {
			n++
		}
		var err error
		if text, err = replace(text, lines[:n]); err != nil {
			return "", err
		}
		lines = lines[min(n+1, len(lines)):]
	}
	return text, nil
}

func replace(text string, lines []string) (string, error) {
	var before, after strings.Builder
	for _, line := range lines {
		if line == "" {
			line = " " // editors strip the space of an empty line
		}
		rest := line[1:] + "\n"
		switch line[0] {
		case ' ':
			before.WriteString(rest)
			after.WriteString(rest)
		case '-':
			before.WriteString(rest)
		case '+':
			after.WriteString(rest)
		default:
			return "", fmt.Errorf("%w: %q begins with no space, plus or minus", errEdit, line)
		}
	}
	whole, old := "\n"+text, "\n"+before.String() // whole lines only
	at := strings.Index(whole, old)
	switch {
	case before.Len() == 0:
		return "", fmt.Errorf("%w: it says not where", errEdit)
	case at < 0:
		return "", fmt.Errorf("%w: these lines are not in it:\n%s", errEdit, before.String())
	case strings.Contains(whole[at+1:], old):
		return "", fmt.Errorf("%w: these lines are in it twice:\n%s", errEdit, before.String())
	}
	return text[:at] + after.String() + text[at+before.Len():], nil
}
