//go:build !purego

package archive

import "testing"

// eachWay does what is to be the same by the loop in assembly and by the one in Go.
func eachWay(do func()) {
	do()
	if hasBMI2 {
		hasBMI2 = false
		defer func() { hasBMI2 = true }()
		do()
	}
}

// A processor without BMI2 unpacks members as one that has it.
func TestMembersAreUnpackedTheSameWithoutBMI2(t *testing.T) {
	if !hasBMI2 {
		t.Skip("this processor does not have it")
	}
	hasBMI2 = false
	defer func() { hasBMI2 = true }()
	t.Run("members", TestWholeMembersAreUnpackedAsByTheStandardLibrary)
	t.Run("matches", TestMatchesAreCopiedFromWhereTheyAre)
	t.Run("long codes", TestCodesMayBeLong)
	t.Run("before", TestWhatIsBeforeAMemberIsNotCopied)
	t.Run("no meaning", TestSymbolsWithoutAMeaningAreRefused)
}
