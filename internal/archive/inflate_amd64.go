//go:build !purego

package archive

import "golang.org/x/sys/cpu"

var hasBMI2 = cpu.X86.HasBMI2

// mostCodes unpacks as codes does, which has told it the next bits. It tells how far it came:
// to the end of the block, to what is refused, or, which is short, to where codes has to go on.
func (f *inflater) mostCodes(next uint64, n, pos int) (uint64, int, int, int, progress) {
	const (
		looks   = 2 * 8             // bytes of the input: eight for a symbol, and for its distance
		written = inflateSlack + 32 // bytes of the output: a match is copied by so many
	)
	mostIn, mostOut := len(f.in)-looks, len(f.out)-written
	if !hasBMI2 || pos > mostIn || f.n > mostOut {
		return next, n, pos, f.n, short
	}
	return codesBMI2(&f.lit[0], &f.dist[0], &f.in[0], pos, mostIn, &f.out[0], f.n, mostOut, next, n)
}

// codesBMI2 is mostCodes. At each symbol pos and w are checked to be at most mostIn and mostOut.
//
//go:noescape
func codesBMI2(lit, dist *code, in *byte, pos, mostIn int, out *byte, w, mostOut int, next uint64, n int) (next2 uint64, n2, pos2, w2 int, p progress)
