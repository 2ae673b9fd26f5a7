// Package rivals has what people use in place of package ranking, from the
// published formulas and in our own code, to be run on the lab's scenarios: for
// the lab only.
//
// Each is an [engine.Rule], or where the engine has it already, that. They see the
// peers, the data and the faults that Assay sees, in the same order, with the same
// hard timeout and the same failover: whom to ask next is all that they decide.
// What a formula leaves open is settled in the rival's favour, and its comment says
// how. [Compare] sets what came of them beside each other; `make rivals` does so for
// all scenarios.
package rivals
