package browser

import (
	"context"
	"net/http"
	"strings"
	"sync"
)

// Cached returns a [Loader] that caches the scripts that load returns, so that the pages of a site
// do not request them again. The cache holds up to size bytes, and evicts the oldest scripts first.
func Cached(load Loader, size int64) Loader {
	c := &cache{free: size, size: size, scripts: map[string]*Response{}}
	return func(ctx context.Context, r *Request) (*Response, error) {
		if !r.Script {
			return load(ctx, r)
		}
		key := r.URL + " " + r.Header.Get("Origin") // the response may depend on the origin
		if have := c.get(key); have != nil {
			return have, nil
		}
		got, err := load(ctx, r)
		if err == nil && got.StatusCode == http.StatusOK && !strings.Contains(strings.ToLower(got.Header.Get("Cache-Control")), "no-store") {
			c.put(key, got)
		}
		return got, err
	}
}

// A cache holds scripts.
type cache struct {
	mu         sync.Mutex
	size, free int64
	scripts    map[string]*Response
	keys       []string // keys of scripts, oldest first
}

func (c *cache) get(key string) *Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scripts[key]
}

func (c *cache) put(key string, r *Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := int64(len(r.Body))
	if n > c.size/4 || c.scripts[key] != nil {
		return
	}
	for c.free < n {
		oldest := c.keys[0]
		c.free += int64(len(c.scripts[oldest].Body))
		delete(c.scripts, oldest)
		c.keys = c.keys[1:]
	}
	c.free -= n
	c.scripts[key], c.keys = r, append(c.keys, key)
}
