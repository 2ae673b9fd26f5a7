module github.com/assay-mux/assay/bench

go 1.26.0

require github.com/assay-mux/assay v0.0.0

require (
	github.com/hashicorp/yamux v0.1.2 // indirect
	github.com/libp2p/go-buffer-pool v0.0.2 // indirect
	github.com/libp2p/go-yamux/v5 v5.1.0 // indirect
	github.com/xtaci/smux v1.5.58 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/assay-mux/assay => ../
