// What Kubernetes' own Go types make of an object, and what these types are. See README.md.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	sigsjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

var scheme = runtime.NewScheme()

func main() {
	for _, add := range groups {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	if len(os.Args) == 2 && os.Args[1] == "types" {
		describe()
		return
	}
	answer()
}

// answer reads lines of JSON, each a YAML text, and writes what the API server would show to a CEL expression.
func answer() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var text string
		must(json.Unmarshal(lines.Bytes(), &text))
		result, err := roundTrip([]byte(text))
		if err != nil {
			must(out.Encode(map[string]any{"error": strings.SplitN(err.Error(), "\n", 2)[0]}))
			continue
		}
		must(out.Encode(map[string]any{"object": result}))
	}
	must(lines.Err())
}

func roundTrip(text []byte) (map[string]any, error) {
	body, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var kind metav1.TypeMeta
	if err := json.Unmarshal(body, &kind); err != nil {
		return nil, err
	}
	object, err := scheme.New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	if err != nil {
		return nil, err
	}
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(body, object); err != nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

// describe writes the kinds, and the fields of each struct below them: name, when it is left out, type.
func describe() {
	roots, types := map[string]string{}, map[string][][3]string{}
	for gvk, goType := range scheme.AllKnownTypes() {
		_, hasMeta := goType.FieldByName("ObjectMeta")
		if gvk.Version == runtime.APIVersionInternal || !hasMeta || gvk.Kind == "WatchEvent" {
			continue
		}
		roots[gvk.GroupVersion().String()+" "+gvk.Kind] = named(goType)
		visit(goType, types)
	}
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"roots": roots, "types": types}))
}

func visit(goType reflect.Type, types map[string][][3]string) {
	if _, known := types[named(goType)]; known {
		return
	}
	types[named(goType)] = nil
	types[named(goType)] = fields(goType, types)
}

func fields(goType reflect.Type, types map[string][][3]string) (found [][3]string) {
	for index := 0; index < goType.NumField(); index++ {
		field := goType.Field(index)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if field.Anonymous && name == "" {
			found = append(found, fields(field.Type, types)...)
			continue
		}
		left := ""
		if strings.Contains(options, "omitempty") {
			left += "e"
		}
		if strings.Contains(options, "omitzero") {
			left += "z"
		}
		found = append(found, [3]string{name, left, code(field.Type, types)})
	}
	return found
}

var special = map[reflect.Type]string{
	reflect.TypeOf(resource.Quantity{}):    "quantity",
	reflect.TypeOf(intstr.IntOrString{}):   "intOrString",
	reflect.TypeOf(metav1.Time{}):          "time",
	reflect.TypeOf(metav1.MicroTime{}):     "microTime",
	reflect.TypeOf(metav1.Duration{}):      "duration",
	reflect.TypeOf(runtime.RawExtension{}): "any",
	reflect.TypeOf(metav1.FieldsV1{}):      "any",
	reflect.TypeOf([]byte{}):               "bytes",
}

func code(goType reflect.Type, types map[string][][3]string) string {
	if word, known := special[goType]; known {
		return word
	}
	switch goType.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Int, reflect.Float64:
		return goType.Kind().String()
	case reflect.Pointer:
		return "*" + code(goType.Elem(), types)
	case reflect.Slice:
		return "[]" + code(goType.Elem(), types)
	case reflect.Map:
		return "{}" + code(goType.Elem(), types)
	case reflect.Struct:
		visit(goType, types)
		return "@" + named(goType)
	}
	panic(fmt.Sprint("no word for ", goType))
}

// named is the group, the version and the name of a struct.
func named(goType reflect.Type) string {
	path := strings.TrimPrefix(strings.TrimPrefix(goType.PkgPath(), "k8s.io/api/"), "k8s.io/apimachinery/pkg/apis/")
	return path + "." + goType.Name()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
