package livepage

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed assets
var embedded embed.FS

// policy forbids the page all but its own assets and streams, and others to
// frame it. Styles are set by rules and through the object model, neither of
// which needs an exception.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Over serves the page at /, what it needs below /assets/ and its streams below
// /live/, and all else by rest.
func (p *Page) Over(rest http.Handler) http.Handler {
	m := http.NewServeMux()
	for _, pattern := range []string{"GET /{$}", "GET /assets/", "GET /live/frames", "GET /live/peer"} {
		m.Handle(pattern, p)
	}
	m.Handle("/", rest)
	return m
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	p.mux.ServeHTTP(w, r)
}

// route says what is where.
func (p *Page) route() {
	assets := http.FileServerFS(embedded)
	// A node of another version may be at the same address tomorrow.
	fresh := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		assets.ServeHTTP(w, r)
	}
	p.mux.HandleFunc("GET /assets/", fresh)
	p.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		text, err := fs.ReadFile(embedded, "assets/index.html")
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text)
	})
	p.mux.HandleFunc("GET /live/frames", p.frames)
	p.mux.HandleFunc("GET /live/peer", p.peer)
}
