package arena

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
)

// A Vector is a slice that grows without being copied, so that no more than one chunk of its memory
// is unused. The zero value is empty and ready to use.
type Vector[T any] struct {
	chunks [][]T
	n      int
}

// Len returns the number of elements.
func (v *Vector[T]) Len() int { return v.n }

// Append adds x as the last element.
func (v *Vector[T]) Append(x T) {
	if v.n == len(v.chunks)<<chunkBits {
		var chunk []T // the first one grows as needed
		if v.n > 0 {
			chunk = make([]T, 0, chunkSize)
		}
		v.chunks = append(v.chunks, chunk)
	}
	last := &v.chunks[len(v.chunks)-1]
	*last = append(*last, x)
	v.n++
}

// At returns element i, which may be changed until the next Append.
func (v *Vector[T]) At(i int) *T { return &v.chunks[i>>chunkBits][i&(chunkSize-1)] }
