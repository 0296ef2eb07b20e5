// A health script of Argo CD, run as Argo CD runs it, on objects as JSON lines. See ../README.md.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
)

func value(state *lua.LState, given any) lua.LValue {
	switch item := given.(type) {
	case bool:
		return lua.LBool(item)
	case float64:
		return lua.LNumber(item)
	case string:
		return lua.LString(item)
	case []any:
		table := state.NewTable()
		for _, below := range item {
			table.Append(value(state, below))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, below := range item {
			table.RawSetString(key, value(state, below))
		}
		return table
	}
	return lua.LNil
}

func run(script string, object any) (string, string, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		state.Push(state.NewFunction(library.open))
		state.Push(lua.LString(library.name))
		state.Call(1, 0)
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return "", "", err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", fmt.Errorf("the script returns no table")
	}
	return table.RawGetString("status").String(), table.RawGetString("message").String(), nil
}

func main() {
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	decoder, encoder := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for decoder.More() {
		var object any
		if err := decoder.Decode(&object); err != nil {
			panic(err)
		}
		status, message, err := run(string(script), object)
		if err != nil {
			panic(err)
		}
		if err := encoder.Encode(map[string]string{"status": status, "message": message}); err != nil {
			panic(err)
		}
	}
}
