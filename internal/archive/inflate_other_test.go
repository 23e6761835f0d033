//go:build !amd64 || purego

package archive

// eachWay does what is to be the same whichever loop there is: one only.
func eachWay(do func()) { do() }
