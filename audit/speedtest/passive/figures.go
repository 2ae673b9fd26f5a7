package passive

// Figures are what a node knows of its own capacity without a test, in payload bytes per second: what
// it publishes. 0 is "not known" or, of Limit, "none". A value; the JSON names are stable.
type Figures struct {
	// Advertised is what the node says it can do: the smaller of Observed and Limit. A node that lies
	// lies here.
	Advertised int64 `json:"advertised_bytes_per_second"`
	// Observed is the smaller of Read and Written: a node that passes on what it gets can do no more.
	Observed int64 `json:"observed_bytes_per_second"`
	// ObservedWithoutTests is the same without the bytes of speed tests: what the node would have
	// observed had nobody tested it, and so the one by which passive observation is judged.
	ObservedWithoutTests int64 `json:"observed_without_tests_bytes_per_second"`
	// Read and Written are the best seconds (10 of them, by default) of either direction within the
	// last day, tests included.
	Read    int64 `json:"observed_read_bytes_per_second"`
	Written int64 `json:"observed_written_bytes_per_second"`
	// Limit is the rate the operator has configured, 0 if none.
	Limit int64 `json:"configured_limit_bytes_per_second"`
}

// WithLimit returns the figures of a node whose operator has configured a limit in bytes per second:
// advertised is the smaller of it and observed. A limit of 0 or less is none.
func (f Figures) WithLimit(limit int64) Figures {
	f.Limit, f.Advertised = max(limit, 0), f.Observed
	if limit > 0 {
		f.Advertised = min(f.Observed, limit)
	}
	return f
}
