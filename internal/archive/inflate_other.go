//go:build !amd64 || purego

package archive

// mostCodes leaves all to codes.
func (f *inflater) mostCodes(next uint64, n, pos int) (uint64, int, int, int, progress) {
	return next, n, pos, f.n, short
}
