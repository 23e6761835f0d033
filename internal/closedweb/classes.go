package closedweb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"spoor/internal/judge"
)

// NearDuplicate is the class of a page with nearly the words of a page that the crawl has fetched before.
const NearDuplicate = "near_duplicate"

// Classes say of the pages of a web which have nearly the same words, and which are traps: pages that a
// server makes in any number, as of a calendar.
type Classes struct {
	Lines, Unknown int // lines that were read, and how many of these are about pages outside the web

	web      *Web
	clusters map[int32]string // by page
	traps    map[int32]string
}

// ReadClasses reads lines such as {"url":"http://a.example/","cluster":7,"trap":"calendar"}. Pages of one
// cluster, a number or a word, have nearly the same words; trap is null or the kind of trap. It skips
// other lines and calls badLine for each.
func ReadClasses(w *Web, r io.Reader, badLine func(line int, err error)) (*Classes, error) {
	c := &Classes{web: w, clusters: map[int32]string{}, traps: map[int32]string{}}
	err := eachLine(r, badLine, c.addLine)
	if err == nil && c.Unknown == c.Lines {
		err = errors.New("no line is about a page of the web\nhint: classes are lines as {\"url\":\"http://a.example/\",\"cluster\":7,\"trap\":null}")
	}
	return c, err
}

func (c *Classes) addLine(text string) error {
	var line struct {
		URL     string          `json:"url"`
		Cluster json.RawMessage `json:"cluster"`
		Trap    *string         `json:"trap"`
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		return err
	}
	if line.URL == "" {
		return errors.New("it has no url")
	}
	cluster := string(line.Cluster)
	if strings.ContainsAny(cluster, "{[") {
		return fmt.Errorf("the cluster %s is neither a number nor a word", cluster)
	}
	if line.Trap != nil && *line.Trap == NearDuplicate {
		return fmt.Errorf("%s is no kind of trap: clusters say which pages are near-duplicates", NearDuplicate)
	}
	c.Lines++
	page := c.web.Find(line.URL).Page
	if page == judge.None {
		c.Unknown++
		return nil
	}
	if cluster != "" && cluster != "null" {
		c.clusters[page] = cluster
	}
	if line.Trap != nil && *line.Trap != "" {
		c.traps[page] = *line.Trap
	}
	return nil
}

// A classCount counts the pages of a crawl by class.
type classCount struct {
	classes               *Classes        // nil: there are none
	fetched               map[string]bool // clusters with a page that was fetched
	nearDuplicates, traps int             // among the pages within the budget
}

// add counts a page that was not fetched before, and returns its class: "" for a page that is nothing
// special. A trap that is a near-duplicate counts as both; its class is the latter.
func (c *classCount) add(page int32, withinBudget bool) (class string) {
	if c.classes == nil || page == judge.None {
		return ""
	}
	if class = c.classes.traps[page]; class != "" && withinBudget {
		c.traps++
	}
	cluster := c.classes.clusters[page]
	switch {
	case cluster == "":
	case !c.fetched[cluster]:
		if c.fetched == nil {
			c.fetched = map[string]bool{}
		}
		c.fetched[cluster] = true
	default:
		class = NearDuplicate
		if withinBudget {
			c.nearDuplicates++
		}
	}
	return class
}
