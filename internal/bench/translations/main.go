// Translations writes the same texts in many languages, as material for comparisons. The texts are
// those of LibreOffice in Debian: the help, and for languages without it, the messages of the programs.
//
//	usage: go run ./translations DIR [LANGUAGE...]    (in internal/bench)
//
// It writes DIR/LANGUAGE/NAME.txt for each LANGUAGE (default: all) if DIR/LANGUAGE does not exist: a
// page of plain text in UTF-8, whose first line is the title, and each other line a paragraph. Pages
// with the same NAME are translations of each other. Some are missing in some languages, because
// paragraphs that are not translated are left out, and pages of fewer than 200 bytes too. The same
// packages give the same bytes.
//
// Debian's packages are downloaded once, by apt-get, to spoor-ci/translations in the user's cache
// directory ($XDG_CACHE_HOME or ~/.cache). It requires dpkg-deb.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// helpLanguages have a translated help, of about 2000 pages.
const helpLanguages = "ca cs da de el en es et eu fi fr gl hi hu id it ja ko nl pl pt ru sl sv tr vi zh-cn zh-tw"

// messageLanguages have translated messages only. They become messagePages pages.
const messageLanguages = "af ar be bg fa he hr lt lv mk mr nb ne ro sk sr th uk"

const (
	messagePages    = 40
	minMessageWords = 6   // minimum number of words of an English message; shorter ones are mostly labels
	minPage         = 200 // minimum length of a page in bytes
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		log.Fatal("usage: translations DIR [LANGUAGE...]")
	}
	languages := os.Args[2:]
	if len(languages) == 0 {
		languages = strings.Fields(helpLanguages + " " + messageLanguages)
	}
	if err := run(os.Args[1], languages); err != nil {
		log.Fatal(err)
	}
}

// A page is its paragraphs. The first is the title.
type page []string

func run(dir string, languages []string) error {
	var english map[string]page
	for _, language := range languages {
		into := filepath.Join(dir, language)
		if _, err := os.Stat(into); err == nil {
			continue
		}
		if english == nil {
			var err error
			if english, err = help("en-us"); err != nil {
				return err
			}
		}
		pages, err := english, error(nil)
		switch {
		case language == "en":
		case slices.Contains(strings.Fields(messageLanguages), language):
			pages, err = messages(language)
		default:
			pages, err = help(language)
		}
		if err != nil {
			return err
		}
		if language != "en" {
			for name := range pages {
				pages[name] = translated(pages[name], english[name])
			}
		}
		if err := write(into, pages); err != nil {
			return err
		}
	}
	return nil
}

// translated returns the paragraphs of p that are not in English.
func translated(p, english page) page {
	isEnglish := map[string]bool{}
	for _, paragraph := range english {
		isEnglish[paragraph] = true
	}
	return slices.DeleteFunc(p, func(paragraph string) bool { return isEnglish[paragraph] })
}

// write writes the pages to a new directory. It creates the directory last.
func write(dir string, pages map[string]page) error {
	temporary := dir + ".new"
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	if err := os.MkdirAll(temporary, 0o777); err != nil {
		return err
	}
	written := 0
	for name, p := range pages {
		text := strings.Join(p, "\n") + "\n"
		if len(text) < minPage {
			continue
		}
		written++
		if err := os.WriteFile(filepath.Join(temporary, name+".txt"), []byte(text), 0o666); err != nil {
			return err
		}
	}
	if written == 0 {
		return fmt.Errorf("no pages for %s", dir)
	}
	return os.Rename(temporary, dir)
}

// help returns the pages of the help in a language of Debian.
func help(language string) (map[string]page, error) {
	pages := map[string]page{}
	err := files("libreoffice-help-"+language, func(name string, data []byte) error {
		_, name, found := strings.Cut(name, "/libreoffice/help/")
		directory, name, _ := strings.Cut(name, "/text/")
		name, isHTML := strings.CutSuffix(name, ".html")
		if !found || !isHTML || !strings.EqualFold(directory, language) {
			return nil
		}
		root, err := html.Parse(bytes.NewReader(data))
		if err != nil {
			return err
		}
		var p page
		for n := range root.Descendants() {
			switch n.DataAtom {
			case atom.Title, atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
				if n.DataAtom == atom.Title || inside(n, "DisplayArea") {
					p = p.add(text(n))
				}
			}
		}
		pages[strings.ReplaceAll(name, "/", "-")] = p
		return nil
	})
	return pages, err
}

// add appends a paragraph with single spaces, unless it is empty or repeats the last one.
func (p page) add(paragraph string) page {
	paragraph = strings.Join(strings.Fields(paragraph), " ")
	if paragraph == "" || len(p) > 0 && p[len(p)-1] == paragraph {
		return p
	}
	return append(p, paragraph)
}

// inside reports whether a node is inside the element with an id.
func inside(n *html.Node, id string) bool {
	for ancestor := range n.Ancestors() {
		for _, a := range ancestor.Attr {
			if a.Key == "id" && a.Val == id {
				return true
			}
		}
	}
	return false
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// messages returns the translated messages of the programs, as pages. The English message
// determines the page of a message, and its place there.
func messages(language string) (map[string]page, error) {
	translations := map[string]string{}
	err := files("libreoffice-l10n-"+language, func(name string, data []byte) error {
		if path.Ext(name) != ".mo" {
			return nil
		}
		return readMO(data, func(english, translation string) {
			if len(strings.Fields(english)) >= minMessageWords && english != translation {
				translations[english] = translation
			}
		})
	})
	if err != nil {
		return nil, err
	}
	sorted := make([]string, 0, len(translations))
	for english := range translations {
		sorted = append(sorted, english)
	}
	slices.Sort(sorted)
	pages := map[string]page{}
	for _, english := range sorted {
		name := fmt.Sprintf("messages-%02d", crc32.ChecksumIEEE([]byte(english))%messagePages)
		// An underscore or a tilde marks the next letter as a keyboard shortcut.
		pages[name] = pages[name].add(strings.NewReplacer("_", "", "~", "").Replace(translations[english]))
	}
	return pages, nil
}

// readMO calls f with the messages of a file of GNU gettext (GNU gettext manual, section "The
// Format of GNU MO Files").
func readMO(data []byte, f func(english, translation string)) error {
	errFormat := errors.New("not a MO file in little endian")
	if len(data) < 20 || binary.LittleEndian.Uint32(data) != 0x950412de {
		return errFormat
	}
	number := func(at uint32) uint32 {
		if uint64(at)+4 > uint64(len(data)) {
			return 0
		}
		return binary.LittleEndian.Uint32(data[at:])
	}
	message := func(table, i uint32) string {
		length, offset := number(table+8*i), number(table+8*i+4)
		if uint64(offset)+uint64(length) > uint64(len(data)) {
			return ""
		}
		first, _, _ := strings.Cut(string(data[offset:offset+length]), "\x00") // others are plurals
		return first
	}
	for i := range number(8) {
		english := message(number(12), i)
		if _, withoutContext, ok := strings.Cut(english, "\x04"); ok {
			english = withoutContext
		}
		if translation := message(number(16), i); english != "" && translation != "" {
			f(english, translation)
		}
	}
	return nil
}

// files calls f with the regular files of a package, which it downloads if necessary.
func files(name string, f func(name string, data []byte) error) error {
	deb, err := download(name)
	if err != nil {
		return err
	}
	cmd := exec.Command("dpkg-deb", "--fsys-tarfile", deb)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	archive := tar.NewReader(out)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", deb, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(archive)
		if err == nil {
			err = f(header.Name, data)
		}
		if err != nil {
			return fmt.Errorf("reading %s in %s: %w", header.Name, deb, err)
		}
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		return err
	}
	return cmd.Wait()
}

// download returns the path of a package in the cache.
func download(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "spoor-ci", "translations")
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return "", err
	}
	pattern := filepath.Join(cache, name+"_*.deb")
	found, _ := filepath.Glob(pattern)
	if len(found) == 0 {
		cmd := exec.Command("apt-get", "-q", "download", name)
		cmd.Dir = cache
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("apt-get download %s: %w\n%s", name, err, out)
		}
		found, _ = filepath.Glob(pattern)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("apt-get has not written %s", pattern)
	}
	return found[len(found)-1], nil
}
