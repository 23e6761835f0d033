package exchange

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// A Status describes what a crawl has done so far.
type Status struct {
	Name       string            `json:"name"`
	Settings   Settings          `json:"settings"`
	Partitions []PartitionStatus `json:"partitions"`
	Nodes      []string          `json:"nodes"`                // the nodes whose leases have not expired
	Over       bool              `json:"over"`                 // all partitions are done
	Leaderless bool              `json:"leaderless,omitempty"` // at most half of the servers answer; Nodes is empty then
	Spent      int               `json:"spent"`
	Relevant   int               `json:"relevant"`
	Digest     string            `json:"digest"`             // digest of all valid commits
	Messages   uint64            `json:"messages,omitempty"` // number of messages in the stream
	Bytes      uint64            `json:"bytes,omitempty"`    // size of the stream on one server
	MaxBytes   int64             `json:"max_bytes,omitempty"`
}

// A PartitionStatus describes what a partition has done so far.
type PartitionStatus struct {
	Partition  int    `json:"partition"`
	Generation int    `json:"generation"` // the last generation that it has committed
	Behind     int    `json:"behind"`     // number of generations behind the most advanced partition
	Done       bool   `json:"done,omitempty"`
	Node       string `json:"node,omitempty"` // the node that made the last commit
	Spent      int    `json:"spent"`
	Relevant   int    `json:"relevant"`
}

// Summarize reads all commits of a crawl.
func Summarize(ctx context.Context, s Stream, name string) (*Status, error) {
	settings, err := Load(ctx, s, name, 0, nil)
	if err != nil {
		return nil, err
	}
	if settings == nil {
		return nil, fmt.Errorf("there is no crawl %s\nhint: exchange create begins one", name)
	}
	st := &Status{Name: name, Settings: *settings, Partitions: make([]PartitionStatus, settings.Partitions)}
	commits := make([]map[int]*Commit, settings.Partitions)
	for p := range commits {
		commits[p] = map[int]*Commit{}
	}
	names := subjects{name}
	for m, err := range (retryer{}).messages(ctx, s, "spoor."+name+".c.*.*") {
		if err != nil {
			return nil, err
		}
		p, g, ok := names.parseCommit(m.Subject)
		if !ok || p < 0 || p >= settings.Partitions || commits[p][g] != nil {
			continue
		}
		if commits[p][g], err = parseCommit(m.Data, p, g, settings.Partitions); err != nil {
			return nil, err
		}
	}
	h := sha256.New()
	for p := range commits {
		of := &st.Partitions[p]
		of.Partition = p
		for g := 1; commits[p][g] != nil; g++ {
			c := commits[p][g]
			of.Generation, of.Node, of.Spent, of.Relevant = g, c.Node, c.Spent, c.Found
			fmt.Fprintf(h, "%d %d %s\n", p, g, c.Digest)
		}
		st.Spent += of.Spent
		st.Relevant += of.Relevant
	}
	st.Digest = hex.EncodeToString(h.Sum(nil)[:8])
	furthest := slices.MaxFunc(st.Partitions, func(a, b PartitionStatus) int { return a.Generation - b.Generation }).Generation
	for p := range st.Partitions {
		st.Partitions[p].Behind = furthest - st.Partitions[p].Generation
	}
	return st, nil
}

// Describe reads all commits of a crawl, and the state of its nodes and its stream.
func (s *JetStream) Describe(ctx context.Context) (*Status, error) {
	st, err := Summarize(ctx, s, s.crawl)
	if err != nil {
		return nil, err
	}
	nodes, done, err := s.Presence(ctx)
	if err != nil {
		return nil, err
	}
	st.Nodes, st.Over = append([]string{}, nodes...), len(done) == len(st.Partitions)
	for p := range st.Partitions {
		st.Partitions[p].Done = done[p]
	}
	info, err := s.info(ctx)
	if err != nil {
		return nil, err
	}
	st.Messages, st.Bytes, st.MaxBytes = info.State.Msgs, info.State.Bytes, info.Config.MaxBytes
	st.Leaderless = info.Cluster != nil && info.Cluster.Leader == ""
	return st, nil
}
