package filter

import (
	"fmt"
	"os"

	"spoor/internal/atomicfile"
)

// noteEnd appends the exit status to a file, if a crawl started this command as a stage and named the
// file. This is needed because a shell returns only one status of a pipeline.
func noteEnd(status int) {
	name, stage := os.Getenv("SPOOR_ENDED"), os.Getenv("SPOOR_STAGE")
	if name == "" || stage == "" { // stage is empty for commands such as run keep, which writes its own line
		return
	}
	f, err := atomicfile.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return // the crawl has ended
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %d \n", stage, status)
}
