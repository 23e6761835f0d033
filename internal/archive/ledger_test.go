package archive

import (
	"path/filepath"
	"testing"
)

func testLedger(t testing.TB) *ledger {
	t.Helper()
	l, err := openLedger(filepath.Join(t.TempDir(), "x"+ledgerSuffix))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() })
	return l
}
