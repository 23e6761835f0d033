package e2e

import (
	"os/exec"
	"slices"
	"testing"
)

// The strategy quality follows the scores of a chat endpoint that is asked for the quality of pages:
// each link has the quality of its page, and the best links of a generation come first.
func TestQualityOfAChatEndpointSteers(t *testing.T) {
	skipShort(t, "no crawls in a short test")
	if _, err := exec.LookPath("python3"); err != nil {
		need(t, "python3")
	}
	endpoint := newChat()
	defer endpoint.Close()
	c := newCrawl(t, "quality")
	c.env = append(c.env, "CHAT_URL="+endpoint.URL, "CHAT_MODEL=m", "CHAT_PATIENCE=0.01",
		"CHAT_CACHE="+t.TempDir()+"/cache", "CHAT_QUESTION=Rate the quality of each page of this JSON list",
		`SCORE=python3 "`+inRoot("doc", "examples", "score_chat.py")+`"`)
	for _, policy := range []string{"min"} {
		c.args = append(slices.Clip(c.args), "-pages", "40", "-size", "12", "-param", "policy="+policy)
		c.run(t, policy)
		type page struct {
			URL, Via   string
			Generation int
			Score      float64
			Reasons    map[string]float64
		}
		qualities, last, generation, steered := map[string]float64{}, 0.0, 0, 0
		for _, p := range jsonLines[page](t, c.shell(t, "score -q -keep -topic topic.json "+policy+"/generations/*/scored.ndjson.zst")) {
			qualities[p.URL] = p.Score
			quality, ok := p.Reasons["quality"]
			if !ok {
				continue // a seed
			}
			if steered++; quality != qualities[p.Via] {
				t.Errorf("policy=%s: %s has the quality %v, its page %s %v", policy, p.URL, quality, p.Via, qualities[p.Via])
			}
			if p.Generation == generation && quality > last {
				t.Errorf("policy=%s: generation %d has %s with %v after %v", policy, p.Generation, p.URL, quality, last)
			}
			generation, last = p.Generation, quality
		}
		if steered < 20 {
			t.Errorf("policy=%s: %d pages were chosen by quality, want 20 or more", policy, steered)
		}
	}
	if n := endpoint.requests.Load(); n == 0 {
		t.Error("the endpoint was not asked")
	}
}
