// Package plots draws what came of a scenario, from its result document (package
// engine): one SVG of three panels over one axis of time. Package page lists them.
//
// The panels answer what a table cannot: who was asked when, and what the ranker
// said of whom (lanes); whether fetches took what was predicted (waits); and by
// what evidence the audit judged (residuals against their threshold).
//
// Colours are of Okabe and Ito's palette, which people tell apart whatever their
// colour vision, and no two kinds of marks differ by colour alone. A drawing
// follows its viewer's light or dark by a style within it, and is in the light
// colours where such styles are not understood.
package plots
