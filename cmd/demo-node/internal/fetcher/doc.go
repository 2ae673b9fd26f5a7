// Package fetcher fetches content-addressed data from whichever peers deliver
// them, by package ranking: it joins peers, tells the ranker what they offer,
// asks whom it chooses, watches each transfer and acts on the advice: another
// peer for the missing range, an end of a transfer, of a connection. What has
// come is verified and the outcome told.
//
// Nothing is decided here. What is here is the I/O that the ranker leaves to its
// host, and it is what a host of one's own would look like.
package fetcher
