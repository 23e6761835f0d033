package run

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"spoor/cmd/internal/filter"
	"spoor/internal/atomicfile"
	"spoor/internal/partition"
	"spoor/internal/run"
)

// cluster is the part of the command line of crawl that is about several machines.
type cluster struct {
	servers, name, node  string
	partitions, replicas number
	lag                  number
	maxBytes             string
	shared               *run.Settings // of the crawl that is joined
}

// fileFlags are the flags of exchange whose values are names of files.
var fileFlags = []string{"creds", "nkey", "ca", "cert", "key"}

func (o *opening) defineCluster(fs *flag.FlagSet) {
	o.partitions = 16
	fs.StringVar(&o.servers, "cluster", "", "crawl on several machines, by way of the NATS servers at these `addresses`; separated by commas")
	fs.StringVar(&o.name, "name", "", "with -cluster: the `name` of the crawl; it is joined if it exists, and begun otherwise")
	fs.StringVar(&o.node, "node", "", "with -cluster: the `name` of this machine (default: its host name)")
	fs.Var(&o.partitions, "partitions", "with -cluster: divide the hosts into `n` partitions; the machines share them")
	fs.Var(&o.lag, "lag", "with -cluster: generations that a partition may be ahead, `S` (default 1, with -archive 0); generation g+1 begins when all partitions have committed generation g-S")
	fs.Var(&o.replicas, "replicas", "with -cluster: store the crawl on `n` servers (default 3, or 1 if fewer are named)")
	fs.StringVar(&o.maxBytes, "max-bytes", "", "with -cluster: maximum size of the stream in `bytes`; see exchange create -h")
	for _, name := range fileFlags {
		fs.Func(name, "with -cluster: a `file`, see exchange create -h", func(v string) error {
			absolute, err := filepath.Abs(v)
			o.s.Exchange = append(o.s.Exchange, "-"+name+"="+absolute)
			return err
		})
	}
}

// joins reports whether the command line joins a crawl that another machine has begun, or may have.
func (o *opening) joins() bool {
	if o.servers == "" || o.name == "" || o.topic != "" || o.dir == "" {
		return false
	}
	before, err := run.Dir(o.dir).LoadSettings()
	return before == nil && err == nil
}

// clusterSettings sets the settings of a crawl on several machines.
func (o *opening) clusterSettings(given map[string]bool) error {
	s := &o.s
	if o.servers == "" {
		for _, name := range []string{"name", "partitions", "lag", "replicas", "max-bytes", "node"} {
			if given[name] && o.topic != "" {
				return filter.Usagef("-%s needs -cluster: the addresses of the servers", name)
			}
		}
		s.Node, s.Crawl = o.node, o.name // of a node that is resumed
		given["crawl"] = given["name"]
		if given["partitions"] {
			s.Partitions = int(o.partitions)
		}
		if given["lag"] {
			s.Lag = int(o.lag)
		}
		return nil
	}
	if o.name == "" {
		return filter.Usagef("-cluster needs -name: a name for the crawl")
	}
	if o.node == "" {
		host, _ := os.Hostname()
		o.node = strings.Map(func(r rune) rune {
			if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", r) {
				return r
			}
			return '-'
		}, cmp.Or(host, "node"))
	}
	s.Exchange = append([]string{"-to=" + o.servers}, s.Exchange...)
	given["exchange"], given["crawl"] = true, true
	s.Crawl, s.Node, s.Partitions, s.Lag, s.Form = o.name, o.node, int(o.partitions), int(o.lag), run.FormSteady
	if !given["lag"] && !s.Closed() {
		s.Lag = 1
	}
	if s.Size == 0 {
		s.Size = 20
	}
	s.Share = "priority"
	if w, known := requirements(s.Strategy); known && w.Numbers {
		s.Share = "reward"
	}
	if o.shared != nil {
		return s.Join(o.shared, given)
	}
	return nil
}

// fetchShared gets the topic and the settings of the crawl to join. They are needed until the run was
// opened; remove, which is never nil, removes them.
func (o *opening) fetchShared(ctx context.Context, prefix run.Prefix, stderr io.Writer) (remove func(), err error) {
	dir, remove, err := published(ctx, prefix, append([]string{"-to=" + o.servers}, o.s.Exchange...), o.name, stderr)
	if err != nil {
		return remove, err
	}
	if o.shared, err = dir.LoadSettings(); err != nil {
		return remove, err
	}
	if o.shared == nil {
		return remove, fmt.Errorf("the crawl %s was not begun by crawl -cluster", o.name)
	}
	o.topic = dir.Path(run.Topic)
	return remove, nil
}

// published writes what the first node of a crawl has published to a directory. remove, which is never
// nil, removes it.
func published(ctx context.Context, prefix run.Prefix, servers []string, crawl string, stderr io.Writer) (dir run.Dir, remove func(), err error) {
	name, err := os.MkdirTemp("", "spoor-crawl-*")
	if err != nil {
		return "", func() {}, err
	}
	args := append([]string{"files", "-crawl=" + crawl, "-dir=" + name}, servers...)
	return run.Dir(name), func() { os.RemoveAll(name) }, spoor(ctx, stderr, nil, prefix, "exchange", args...)
}

// spoor runs a command of spoor.
func spoor(ctx context.Context, stderr io.Writer, stdin io.Reader, prefix run.Prefix, name string, args ...string) error {
	cmd := prefix.Command(ctx, name, args...)
	var messages bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &messages
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		stderr.Write(messages.Bytes())
		return filter.Exit(max(1, cmd.ProcessState.ExitCode()), fmt.Errorf("%s%s %s failed: see above", prefix, name, args[0]))
	}
	return nil
}

// joinCluster begins or joins the crawl, and becomes exchange hold.
func (o *opening) joinCluster(ctx context.Context, prefix run.Prefix, script string, d run.Dir, s *run.Settings, lock *os.File, stderr io.Writer) error {
	if err := o.createOrCheck(ctx, prefix, d, s, stderr); err != nil {
		return err
	}
	script, err := filepath.Abs(script)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(string(d))
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "crawl: node %s of crawl %s; messages of partition N are in %s and %s\n", s.Node, s.Crawl, d.Path("p", "NNN", run.CrawlLog), run.StagesLog)
	args := append(prefix.Words("exchange", "hold"), s.Exchange...)
	args = append(args, "-crawl="+s.Crawl, "-node="+s.Node, "--", "bash", script, "-run", dir)
	return run.Become(lock, nil, args...)
}

// createOrCheck begins the crawl, if this machine has its seeds and no partitions yet, or else compares
// what all nodes share. Where partitions exist, a stream that is gone must not begin again.
func (o *opening) createOrCheck(ctx context.Context, prefix run.Prefix, d run.Dir, s *run.Settings, stderr io.Writer) error {
	if !d.HasPartitions() {
		seeds, err := os.Open(d.Path("seeds.txt"))
		if err == nil {
			defer seeds.Close()
			return o.create(ctx, prefix, d, s, seeds, stderr)
		}
	}
	dir, remove, err := published(ctx, prefix, s.Exchange, s.Crawl, stderr)
	defer remove()
	if err != nil {
		return err
	}
	return d.CheckShared(s, dir)
}

// create begins the crawl in the stream.
func (o *opening) create(ctx context.Context, prefix run.Prefix, d run.Dir, s *run.Settings, seeds io.Reader, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "spoor-crawl-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := s.SaveShared(run.Dir(dir)); err != nil {
		return err
	}
	replicas := int(o.replicas)
	if replicas == 0 {
		replicas = 1
		if strings.Count(s.Exchange[0], ",") >= 2 {
			replicas = 3
		}
	}
	args := append([]string{"create"}, s.Exchange...)
	args = append(args, "-crawl="+s.Crawl, "-share="+s.Share, "-file="+filepath.Join(dir, run.SettingsFile))
	for _, f := range []struct {
		name string
		n    int
	}{{"partitions", s.Partitions}, {"size", s.Size}, {"pages", s.Pages}, {"generations", s.Generations}, {"lag", s.Lag}, {"replicas", replicas}} {
		args = append(args, fmt.Sprintf("-%s=%d", f.name, f.n))
	}
	args = append(args, "-patience="+s.Patience.String())
	if o.maxBytes != "" {
		args = append(args, "-max-bytes="+o.maxBytes)
	}
	for _, file := range d.SharedFiles() {
		args = append(args, "-file="+file)
	}
	return spoor(ctx, stderr, seeds, prefix, "exchange", args...)
}

// openPartition opens the run of a partition of a node, and becomes its crawl.
func openPartition(ctx context.Context, opener *run.Opener, script string, node run.Dir, name string) error {
	p, err := partition.Parse(name)
	if err != nil {
		return filter.Usagef("SPOOR_PARTITION=%s: %v", name, err)
	}
	d, lock, err := opener.OpenPartition(ctx, node, p)
	if err != nil {
		return err
	}
	log, err := atomicfile.OpenFile(d.Path(run.CrawlLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	return d.BecomeLoop(lock, log, script)
}
