package main

import (
	"errors"

	"github.com/assay-mux/assay/internal/lab/kernelstudy"
	"github.com/assay-mux/assay/internal/lab/kernelstudy/kernelplot"
)

// accuracy is between wrapped nodes.
func accuracy(args []string) error {
	return verdict(kernelstudy.Accuracy(args, kernelstudy.Peer{
		Name: "kernel-accuracy", Start: kernelstudy.Wrapped(kernelstudy.Window), Factor: 1, Plot: kernelplot.Plot,
	}))
}

// onesided is against hashicorp's yamux as it is.
func onesided(args []string) error {
	return verdict(kernelstudy.Accuracy(args, kernelstudy.Peer{
		Name: "kernel-hashicorp", Start: kernelstudy.Bare(kernelstudy.Window), Factor: 1.5, Plot: kernelplot.Plot,
	}))
}

func verdict(met bool, err error) error {
	if err == nil && !met {
		return errMissed
	}
	return errors.Join(err)
}
