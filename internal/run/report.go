package run

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"spoor/internal/atomicfile"
	"spoor/internal/lock"
)

// publish starts a process that writes the report of the crawl, if -watch is set, no such process is
// running, and nine times as long has passed since the last report as that took: a report of a million
// pages takes half a minute of processor time. The process inherits the file report.lock, and so keeps
// it locked; the file's time is that of the start.
func (c *Crawl) publish() {
	if !c.Settings.Watch || !c.reportDue() {
		return
	}
	f, err := atomicfile.OpenFile(c.Dir.Path("report.lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return
	}
	defer f.Close()
	if lock.Try(f, true) == nil {
		os.Chtimes(f.Name(), time.Time{}, time.Now()) // if it fails, the next report may be early, or late
		cmd := c.reportCommand("-reload", "10")       // the final report has no -reload
		cmd.ExtraFiles = []*os.File{f}
		if cmd.Start() == nil { // writeFinalReport reports errors
			go cmd.Wait()
		}
	}
}

// maxReportWait is the longest time between two reports, also if report.html is from a process that has
// not noted its start in report.lock: report, or an earlier version of crawl.
const maxReportWait = 30 * time.Minute

func (c *Crawl) reportDue() bool {
	begun, err := os.Stat(c.Dir.Path("report.lock"))
	if err != nil {
		return true
	}
	ended, err := os.Stat(c.Dir.Path("report.html"))
	return err != nil || time.Since(ended.ModTime()) >= min(9*ended.ModTime().Sub(begun.ModTime()), maxReportWait)
}

func (c *Crawl) writeFinalReport() {
	if !c.Settings.Watch || c.Totals.Generation == 0 {
		return
	}
	f, err := atomicfile.OpenFile(c.Dir.Path("report.lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		err = lock.Wait(f)
		os.Chtimes(f.Name(), time.Time{}, time.Now())
		defer f.Close()
	}
	if err = errors.Join(err, c.reportCommand().Run()); err != nil {
		c.View.Say("the report could not be written: see %s", c.Dir.Path(StagesLog))
		return
	}
	c.View.Note("report: %s", Dir(c.Dir.Path("report.html")))
}

func (c *Crawl) reportCommand(flags ...string) *exec.Cmd {
	cmd := exec.Command("nice", c.Prefix.Words("report", append([]string{"-o", c.Dir.Path("report.html"), string(c.Dir)}, flags...)...)...)
	if log, err := c.Dir.OpenLog(); err == nil {
		cmd.Stderr = log
	}
	return cmd
}
