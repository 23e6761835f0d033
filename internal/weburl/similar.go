package weburl

import "strings"

// Similar returns the addresses that differ from an http or https address only in its scheme, "www." or
// the final slash of its path, first those with one difference. It returns nil for other addresses.
func Similar(address string) (list []string) {
	scheme, rest, _ := strings.Cut(address, "://")
	other := map[string]string{"http": "https", "https": "http"}[scheme]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, rest := rest[:end], rest[end:]
	if other == "" || host == "" {
		return nil
	}
	end = strings.IndexAny(rest, "?#")
	if end < 0 {
		end = len(rest)
	}
	path, query := rest[:end], rest[end:]
	otherHost, hasWWW := strings.CutPrefix(host, "www.")
	if !hasWWW {
		otherHost = "www." + host
	}
	otherPath, slashed := strings.CutSuffix(path, "/")
	if !slashed {
		otherPath += "/"
	}
	for _, differences := range []int{1, 2, 4, 3, 5, 6, 7} {
		s, h, p := scheme, host, path
		if differences&1 != 0 {
			s = other
		}
		if differences&2 != 0 {
			h = otherHost
		}
		if differences&4 != 0 {
			p = otherPath
		}
		list = append(list, s+"://"+h+p+query)
	}
	return list
}
