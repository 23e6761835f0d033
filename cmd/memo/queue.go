package main

import "sync"

// An item is what will be written for a record.
type item struct {
	own    []byte   // what the record itself contributes, a line; without an answer it is all
	url    string   // of the record
	answer          // the store's; or
	from   *command // whose next answer it is; or
	ended  *command // that gets no more records: nothing is written
}

func (it *item) size() int { return 128 + len(it.own) + len(it.url) }

// maxHeld is how many bytes of items may be in a queue.
const maxHeld = 64 << 20

// A queue is what will be written, in order. One goroutine puts items into it, another
// takes them out.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	items   []item
	held    int  // bytes of items
	waiting bool // for a command to answer the item that was taken last
	ended   bool // there will be no more items
	left    bool // nobody takes them
}

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

// push puts an item into the queue. It reports whether there is somebody to take it.
func (q *queue) push(it item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, it)
	q.held += it.size()
	q.changed.Broadcast()
	return !q.left
}

// room waits until the queue is not too full. If that will not be before the command
// that is being waited for is given no more records, and c is open, it reports false.
func (q *queue) room(c *command) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.held > maxHeld && !q.left {
		if q.waiting && c != nil {
			return false
		}
		q.changed.Wait()
	}
	return true
}

// end says that there will be no more items.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.changed.Broadcast()
}

// leave says that no more items will be taken.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left = true
	q.changed.Broadcast()
}

// empty tells whether an item would have to be waited for.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0
}

// pop waits for the next item and takes it. It reports false when there are no more.
func (q *queue) pop() (it item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = false
	q.changed.Broadcast()
	for len(q.items) == 0 {
		if q.ended {
			return item{}, false
		}
		q.changed.Wait()
	}
	it, q.items[0] = q.items[0], item{}
	q.items = q.items[1:]
	q.held -= it.size()
	q.waiting = it.from != nil
	q.changed.Broadcast()
	return it, true
}
