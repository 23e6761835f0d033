package web

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestWithTimeoutReturnsItsOwnError(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			err := withTimeout(t.Context(), Connect, time.Second, func(ctx context.Context) error {
				end, _ := ctx.Deadline()
				time.Sleep(time.Until(end)) // as a connection with this deadline does
				return os.ErrDeadlineExceeded
			})
			if late, ok := errors.AsType[*TimeoutError](err); !ok || late.Phase != Connect {
				t.Fatalf("%v", err)
			}
		})
	}
}
