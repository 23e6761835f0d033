package strategy

// This file lets tagpath look for files, as its source does. The reward of a page is the number of
// new links to files that it has. A classifier of addresses predicts whether a link leads to a
// file; files are fetched before the next arm is pulled.
//
//	program                    here        meaning
//	mime_types_data_resources  fileTypes   media types of targets
//	labeled_urls               batch       fetched links since the last update
//	batch_size                 filesBatch  links of an update
//	model                      model       P(file) from the 2-grams of the address
//	data_resource              of          links that are files, or probably are
//
// The comments name the rows of the table in doc/design/papers.md.

import (
	"mime"
	"slices"
	"strings"

	"spoor/internal/graph"
	"spoor/internal/wire"
)

// Values of the parameter targets, beside media types.
const (
	relevantPages = "relevant"
	anyFiles      = "files"
)

// fileTypes are the targets of the program. A type that ends with * stands for all types that
// begin like it.
var fileTypes = strings.Fields(`
	text/csv application/csv text/x-csv application/x-csv text/x-comma-separated-values
	text/comma-separated-values application/vnd.ms-excel* application/msword
	application/vnd.openxmlformats-officedocument.* application/vnd.oasis.opendocument.*
	application/pdf application/x-pdf application/json text/json application/xml application/rdf+xml
	application/rss+xml application/yaml text/yaml text/x-yaml application/x-yaml text/plain
	application/zip application/x-zip-compressed application/zip-compressed application/x-tar
	application/x-gtar application/x-gzip application/x-7z-compressed application/vnd.rar
	application/x-rar-compressed application/octet-stream`)

const (
	filesBatch = 10  // fetched links with which the classifier is updated
	filesRate  = 0.5 // its learning rate, as of anthelion

	filesGrowth = 25 // the waiting links are classified again when labels has grown by one in filesGrowth
)

// A fileSearch is the state of a search for files. It follows from the outcomes.
type fileSearch struct {
	of      []bool     // by graph.ID: the link leads to a file: if it was fetched, or else as predicted
	seen    int        // number of addresses that the last generation knew
	batch   []labelled // fetched links since the last update
	model   logistic
	trained bool
	labels  int       // fetched links that the classifier was trained with
	renewed int       // labels when the waiting links were last classified again
	pairs   []feature // scratch of probability
}

// has reports whether the link leads to a file.
func (f *fileSearch) has(id graph.ID) bool { return int(id) < len(f.of) && f.of[id] }

// areMediaTypes reports whether list is a list of media types, separated by commas.
func areMediaTypes(list string) bool {
	for t := range strings.SplitSeq(list, ",") {
		kind, sub, _ := strings.Cut(t, "/")
		if media, params, err := mime.ParseMediaType(t); err != nil || media != t || len(params) > 0 ||
			sub == "" || strings.Contains(kind, "*") || sub != "*" && strings.Contains(sub, "*") {
			return false
		}
	}
	return true
}

// isTarget reports whether rec is a file that is looked for. fetch may have refused its body.
func (s *tagPath) isTarget(rec *wire.Record) bool {
	if rec.StatusCode/100 != 2 || rec.Error != "" && rec.Error != wire.ErrorUnsupportedType {
		return false
	}
	types := fileTypes
	if s.Targets != anyFiles {
		types = strings.Split(s.Targets, ",")
	}
	return slices.ContainsFunc(types, func(t string) bool {
		start, all := strings.CutSuffix(t, "*")
		return t == rec.ContentType || all && strings.HasPrefix(rec.ContentType, start)
	})
}

// proposeFile proposes a link that probably leads to a file.
func (s *tagPath) proposeFile(id graph.ID, priority float64) Address {
	a := s.proposeAt(id, priority, wire.Scored{Name: "classifier", Value: s.probability(id)})
	a.Operator = opTarget
	return a
}

// learnFiles is learn if the targets are files: it counts the pulls of arms and the files among the
// links of their pages, and updates the classifier (row l).
func (s *tagPath) learnFiles() {
	f := &s.files
	f.of = grown(f.of, s.web.Len())
	f.model.fit(urlPairs, filesRate)
	for _, p := range s.pages[s.firstPage:] {
		if s.arm(p.node) < 0 {
			continue // no link led to this page
		}
		s.countFile(p.node, p.relevant)
		if !p.relevant {
			s.answer(p.node, false) // a page, whose reward is in its links, or a failure (row j)
		}
		if p.relevant || !p.failed { // a label (row g)
			f.batch = append(f.batch, labelled{appendPairs(nil, s.web.URL(p.node)), p.relevant})
		}
	}
	for _, t := range s.aliases[s.learnedAliases:] {
		s.countFile(t.node, false)
		s.answer(t.node, false) // the link led to a known page
	}
	s.learnedAliases = len(s.aliases)

	from := f.seen // classify the new links
	if len(f.batch) >= filesBatch {
		for _, l := range f.batch {
			f.model.learn(l.features, l.relevant)
		}
		f.labels += len(f.batch)
		f.batch, f.trained = f.batch[:0], true
		if f.labels >= f.renewed+f.renewed/filesGrowth { // classify all waiting links again (row h)
			f.renewed, from = f.labels, 0
		}
	}
	f.seen = s.web.Len()
	if !f.trained {
		return
	}
	for id := graph.ID(from); int(id) < f.seen; id++ {
		if _, fetched := s.page(id); !fetched && s.arm(id) >= 0 {
			s.countFile(id, s.probability(id) >= 0.5)
		}
	}
}

// countFile records whether a link leads to a file, and rewards the arm of the first page with the
// link accordingly (row i).
func (s *tagPath) countFile(id graph.ID, is bool) {
	if s.files.of[id] == is {
		return
	}
	s.files.of[id] = is
	for parent := range s.web.Parents(id) {
		if arm := s.arm(parent); arm >= 0 && is {
			s.arms[arm].reward++
		} else if arm >= 0 {
			s.arms[arm].reward--
		}
		break
	}
}

// probability returns the probability that the unfetched link id leads to a file.
func (s *tagPath) probability(id graph.ID) float64 {
	s.files.pairs = appendPairs(s.files.pairs[:0], s.web.URL(id))
	return s.files.model.probability(s.files.pairs)
}

// urlPairs is the number of pairs of printable ASCII characters.
const (
	printable = '~' - ' ' + 1
	urlPairs  = printable * printable
)

// appendPairs appends the 2-grams of the characters of an address, in lower case. A repeated one
// counts as often. Of a long address the end is read, where the name of the file is.
func appendPairs(dst []feature, address string) []feature {
	last := feature(printable)
	for i := max(0, len(address)-readURL); i < len(address); i++ {
		c := address[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		next := feature(c - ' ') // a control character wraps around
		if last < printable && next < printable {
			dst = append(dst, last*printable+next)
		}
		last = next
	}
	return dst
}
