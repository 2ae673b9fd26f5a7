module github.com/assay-mux/assay/bench

go 1.26.0

require (
	github.com/assay-mux/assay v0.0.0
	github.com/hashicorp/yamux v0.1.2
	github.com/libp2p/go-yamux/v5 v5.1.0
	github.com/xtaci/smux v1.5.58
	go.uber.org/goleak v1.3.0
)

require (
	github.com/caio/go-tdigest/v4 v4.1.0 // indirect
	github.com/libp2p/go-buffer-pool v0.0.2 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/assay-mux/assay => ../
