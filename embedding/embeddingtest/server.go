package embeddingtest

import (
	"encoding/json"
	"net/http"

	"memd/embedding"
)

// Handler serves POST /v1/embeddings out of e as an OpenAI-compatible server
// does, without asking for a key. A text that has no vector gets one of zeros.
func Handler(e embedding.Embedder) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if ask.Model != e.Model() {
			http.Error(w, "no such model", http.StatusNotFound)
			return
		}
		vectors, err := e.Embed(r.Context(), ask.Input)
		if err != nil {
			http.Error(w, "failed", http.StatusInternalServerError)
			return
		}
		type item struct {
			Object    string    `json:"object"`
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		items := make([]item, len(vectors))
		for i, v := range vectors {
			if v == nil {
				v = make([]float32, e.Dim())
			}
			items[i] = item{"embedding", i, v}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": ask.Model, "data": items})
	})
	return mux
}
