package spoor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// directUses are the functions of commands that use the stdout or stderr of the process itself,
// and the functions that print to a writer that is neither stderr, nor a buffer, nor filter.Text,
// because what they print is a record or is written to a file. Text that people read must not be
// among them: see internal/terminal.
var directUses = map[string]string{
	"cmd/internal/filter/filter.go Main os.Stderr": "wrapped in a terminal.Writer",
	"cmd/internal/filter/filter.go Main os.Stdout": "records, and help through Text",
	"cmd/internal/filter/ended.go noteEnd f":       "the file ended",
	"cmd/gosite/main.go run stdout":                "its own address, for programs",
	"cmd/topic/explain.go runExplain out":          "an empty line",
	"internal/run/ended.go NoteEnd f":              "the file ended",
	"internal/run/open.go Hold f":                  "the file lock",
	"internal/run/settings.go sample h":            "a hash",
	"internal/run/serve.go SummarizeTo w":          "records",
	"internal/run/stage.go run os.Stderr":          "stages.log, for a stage of the user",
	"internal/run/view.go Clear v.Screen":          "control sequences of its own",
	"internal/run/view.go Waiting v.Screen":        "control sequences of its own and a time",
	"internal/run/view.go Final v.Screen":          "control sequences of its own; block escapes names",
	"internal/run/view.go draw v.Screen":           "control sequences of its own; block escapes names",
}

// Text that people read reaches a terminal only through internal/terminal: every print of a
// command and of internal/run goes to the stderr that filter.Main has wrapped, to filter.Text, to
// a buffer, or is in the list above.
func TestTextForPeopleIsEscaped(t *testing.T) {
	found := map[string]bool{}
	for _, root := range []string{"cmd", "internal/run"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				for _, use := range uses(decl) {
					found[filepath.ToSlash(path)+" "+use] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, use := range slices.Sorted(maps.Keys(found)) {
		if _, ok := directUses[use]; !ok {
			t.Errorf("%s: text for people must go to stderr or through filter.Text; records and files belong into the list of this test", use)
		}
	}
	for use := range directUses {
		if !found[use] {
			t.Errorf("%s: is in the list, but not in the source", use)
		}
	}
}

// uses returns the direct uses in a declaration: the name of the function, and the stream.
func uses(decl ast.Decl) (list []string) {
	name := "var"
	text := map[string]bool{} // variables that hold a filter.Text
	if f, ok := decl.(*ast.FuncDecl); ok {
		name = f.Name.Name
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && escaped(n.Rhs[0]) {
				text[types.ExprString(n.Lhs[0])] = true
			}
		case *ast.SelectorExpr:
			if s := types.ExprString(n); s == "os.Stdout" || s == "os.Stderr" {
				list = append(list, name+" "+s)
			}
		case *ast.CallExpr:
			called := types.ExprString(n.Fun)
			switch {
			case called == "print", called == "println", strings.HasPrefix(called, "fmt.Print"), strings.HasPrefix(called, "log.Print"), strings.HasPrefix(called, "log.Fatal"), called == "slog.Default":
				list = append(list, name+" "+called)
			case strings.HasPrefix(called, "fmt.Fprint"), called == "io.WriteString":
				out := types.ExprString(n.Args[0])
				_, buffer := n.Args[0].(*ast.UnaryExpr) // &b, a strings.Builder
				if !buffer && !text[out] && !escaped(n.Args[0]) && !cleanWriters[out] {
					list = append(list, name+" "+out)
				}
			}
		}
		return true
	})
	return list
}

// cleanWriters are the expressions for the stderr that filter.Main has wrapped.
var cleanWriters = map[string]bool{"stderr": true, "c.stderr": true, "o.Stderr": true, "v.Out": true, "fs.Output()": true}

// escaped reports whether e is a call of filter.Text.
func escaped(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := types.ExprString(call.Fun)
	return f == "filter.Text" || f == "Text"
}
