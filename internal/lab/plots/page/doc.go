// Package page writes the page that lists all results of the lab, with what each
// scenario is about, its figures, its bars and its drawing (package plots): HTML
// that runs no script and asks for nothing but the drawings beside it, for a phone
// and a desk, in the light and in the dark.
package page
