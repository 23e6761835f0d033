package strategy

// This file holds the Tree-Frontier of tres.go: a regression tree (CART: L. Breiman, J. Friedman,
// R. Olshen and C. Stone, "Classification and regression trees", 1984) of the features of links,
// which grows with each link that is followed, and whose leaves hold the waiting links.

import (
	"math/rand/v2"

	"spoor/internal/graph"
)

// A treeFrontier is a tree of nodes. The zero value is a tree of one leaf without links.
type treeFrontier struct {
	nodes []treeNode // the root is the first
}

// A treeNode is a leaf, or divides links by a feature.
type treeNode struct {
	depth   int
	feature int
	value   uint8 // links with at most this value are in the left child
	left    int   // index of the left child, which the right one follows; 0: the node is a leaf

	experiences []experience // of a leaf
	waiting     []candidate  // of a leaf, during Breed
}

// A candidate is a waiting link.
type candidate struct {
	id graph.ID
	x  vector
}

// An experience is a link that was followed, and whether its page was relevant.
type experience struct {
	x      vector
	reward bool
}

// leaf returns the index of the leaf of a link.
func (t *treeFrontier) leaf(x vector) (at int) {
	if t.nodes == nil {
		t.nodes = make([]treeNode, 1)
	}
	for t.nodes[at].left > 0 {
		n := &t.nodes[at]
		if at = n.left; x[n.feature] > n.value {
			at++
		}
	}
	return at
}

// add adds an experience to its leaf, and splits the leaf if this reduces the variance of rewards.
func (t *treeFrontier) add(e experience, maxDepth, minSplit int) {
	at := t.leaf(e.x)
	n := &t.nodes[at]
	n.experiences = append(n.experiences, e)
	if n.depth >= maxDepth || len(n.experiences) < minSplit {
		return
	}
	var found bool
	if n.feature, n.value, found = bestSplit(n.experiences); !found {
		return
	}
	n.left = len(t.nodes)
	children := [2]treeNode{{depth: n.depth + 1}, {depth: n.depth + 1}}
	for _, e := range n.experiences {
		side := 0
		if e.x[n.feature] > n.value {
			side = 1
		}
		children[side].experiences = append(children[side].experiences, e)
	}
	n.experiences, n.waiting = nil, nil
	t.nodes = append(t.nodes, children[:]...)
}

// bestSplit returns the feature and the value that reduce the variance most:
//
//	Var(r) − |left|/n · Var(r of left) − |right|/n · Var(r of right)
//
// Rewards are 0 or 1, so with k rewards of 1 among n, n·Var is k − k²/n, and the reduction is
// largest where k²/n, summed over both sides, is. If several are equal, it returns the first. found
// is false if no split reduces the variance.
func bestSplit(experiences []experience) (feature int, value uint8, found bool) {
	n, k := 0, 0
	var all, good [inputs][101]int // by feature and value
	for _, e := range experiences {
		n++
		for f, v := range e.x {
			all[f][v]++
			if e.reward {
				good[f][v]++
			}
		}
		if e.reward {
			k++
		}
	}
	best := 0.0
	for f := range all {
		nl, kl := 0, 0
		for v := range all[f] {
			nl, kl = nl+all[f][v], kl+good[f][v]
			if all[f][v] == 0 || nl == n || kl*n == k*nl { // equal means: no reduction
				continue
			}
			if sum := float64(kl*kl)/float64(nl) + float64((k-kl)*(k-kl))/float64(n-nl); sum > best {
				feature, value, found, best = f, uint8(v), true, sum
			}
		}
	}
	return feature, value, found
}

// draw returns the index of a random waiting link in a leaf. It removes links that are not allowed
// any more. found is false if no link is left.
func (t *treeFrontier) draw(leaf int, rng *rand.Rand, allowed func(graph.ID) bool) (k int, found bool) {
	for len(t.nodes[leaf].waiting) > 0 {
		k = rng.IntN(len(t.nodes[leaf].waiting))
		if allowed(t.nodes[leaf].waiting[k].id) {
			return k, true
		}
		t.remove(leaf, k)
	}
	return 0, false
}

func (t *treeFrontier) remove(leaf, k int) {
	w := t.nodes[leaf].waiting
	w[k] = w[len(w)-1]
	t.nodes[leaf].waiting = w[:len(w)-1]
}
