package run

import (
	"errors"
	"os"
	"os/exec"

	"spoor/internal/lock"
)

// publish starts making a report of the crawl, if the user watches it and no report is being
// made. The process that makes it holds a lock by a file that it inherits.
func (c *Crawl) publish() {
	if !c.Settings.Watch {
		return
	}
	f, err := os.OpenFile(c.Dir.Path("report.lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return
	}
	defer f.Close()
	if lock.Try(f, true) == nil {
		cmd := c.reportCommand()
		cmd.ExtraFiles = []*os.File{f}
		if cmd.Start() == nil { // the last report says whether reports can be made
			go cmd.Wait()
		}
	}
}

// leaveReport makes the last report, of everything that was done.
func (c *Crawl) leaveReport() {
	if !c.Settings.Watch || c.Totals.Generation == 0 {
		return
	}
	f, err := os.OpenFile(c.Dir.Path("report.lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		err = lock.Wait(f)
		defer f.Close()
	}
	if err = errors.Join(err, c.reportCommand().Run()); err != nil {
		c.View.Say("no report could be made of it: see %s", c.Dir.Path(StagesLog))
		return
	}
	c.View.Say("a report of it: %s", Dir(c.Dir.Path("report.html")))
}

func (c *Crawl) reportCommand() *exec.Cmd {
	cmd := exec.Command("nice", c.Prefix+"report", "-o", c.Dir.Path("report.html"), string(c.Dir))
	if log, err := c.Dir.OpenLog(); err == nil {
		cmd.Stderr = log
	}
	return cmd
}
