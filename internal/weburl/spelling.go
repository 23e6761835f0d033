package weburl

import "strings"

// ResolveSpelled resolves ref as [Resolve] does, but keeps the escapes in its path as they are
// ("%7E"), as browsers do, which do not make URLs canonical beyond the standard.
func ResolveSpelled(base URL, ref string) (string, error) {
	u, err := Resolve(base, ref)
	if err != nil {
		return "", err
	}
	ref, _, _ = strings.Cut(strings.TrimFunc(ref, func(c rune) bool { return c <= ' ' }), "#")
	path, _, _ := strings.Cut(ref, "?")
	if strings.IndexByte(path, '%') < 0 || strings.Contains(strings.ToLower(path), "%2e") { // may be a dot segment
		return u.s, nil
	}
	// An escaped percent sign stays as it is, so escapes are hidden by escaping theirs.
	hidden, err := Resolve(base, strings.ReplaceAll(path, "%", "%25")+"#")
	if err != nil {
		return u.s, nil //nolint:nilerr // an escape in the host
	}
	spelling, _, _ := strings.Cut(strings.ReplaceAll(hidden.s, "%25", "%"), "?") // a ref of a query only has the path of its page
	return spelling + u.s[u.query:], nil
}
