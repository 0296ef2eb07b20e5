package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// declarations prints every overload with the first minor that has it, and the last one where it is gone later.
func declarations(newest uint) {
	first, last := map[string]uint{}, map[string]uint{}
	for minor := uint(23); minor <= newest; minor++ {
		env, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor), true).Env(environment.NewExpressions)
		if err != nil {
			panic(err)
		}
		for name, function := range env.Functions() {
			for _, overload := range function.OverloadDecls() {
				line := signature(name, overload.IsMemberFunction(), overload.ArgTypes(), overload.ResultType())
				if _, known := first[line]; !known {
					first[line] = minor
				}
				last[line] = minor
			}
		}
		for _, macro := range env.Macros() {
			line := fmt.Sprintf("macro %s/%d receiver=%v", macro.Function(), macro.ArgCount(), macro.IsReceiverStyle())
			if _, known := first[line]; !known {
				first[line] = minor
			}
			last[line] = minor
		}
	}
	lines := []string{}
	for line, minor := range first {
		gone := ""
		if last[line] != newest {
			gone = fmt.Sprintf("-%d", last[line])
		}
		lines = append(lines, fmt.Sprintf("%d%s %s", minor, gone, line))
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
}

func signature(name string, member bool, args []*cel.Type, result *cel.Type) string {
	words := make([]string, len(args))
	for i, one := range args {
		words[i] = one.String()
	}
	if member {
		return fmt.Sprintf("%s.%s(%s) -> %s", words[0], name, strings.Join(words[1:], ", "), result)
	}
	return fmt.Sprintf("%s(%s) -> %s", name, strings.Join(words, ", "), result)
}
