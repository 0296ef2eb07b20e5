// Which fields the API server fills in, by kind, and what with: what its defaulting adds to objects made at random. See README.md.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

var texts = []string{"", "", "RollingUpdate", "LoadBalancer", "NodePort", "ExternalName", "Localhost", "x", "nginx:latest",
	"Container", "ClientIP", "ClusterRole", "User", "Group", "ServiceAccount", "Resource", "Deployment"}

func main() {
	found := map[string]map[string]map[string]any{}
	for gvk, goType := range legacyscheme.Scheme.AllKnownTypes() {
		_, hasMeta := goType.FieldByName("ObjectMeta")
		if !hasMeta || gvk.Version == runtime.APIVersionInternal || strings.Contains(gvk.Version, "beta") ||
			strings.Contains(gvk.Version, "alpha") {
			continue
		}
		kind := gvk.GroupVersion().String() + " " + gvk.Kind
		for seed := int64(0); seed < 600; seed++ {
			object, err := legacyscheme.Scheme.New(gvk)
			must(err)
			object.GetObjectKind().SetGroupVersionKind(gvk)
			fill(reflect.ValueOf(object).Elem(), rand.New(rand.NewSource(seed)), 0)
			before := paths(object)
			legacyscheme.Scheme.Default(object)
			for path, value := range paths(object) {
				if old, was := before[path]; !was || old != value {
					if found[kind] == nil {
						found[kind] = map[string]map[string]any{}
					}
					if found[kind][path] == nil {
						found[kind][path] = map[string]any{}
					}
					found[kind][path][fmt.Sprint(value)] = value
				}
			}
		}
	}
	result := map[string]map[string]any{}
	for kind, set := range found {
		result[kind] = map[string]any{}
		for path, values := range set {
			result[kind][path] = nil // more than one value: it depends on the object
			for _, value := range values {
				if len(values) == 1 {
					result[kind][path] = value
				}
			}
		}
	}
	must(json.NewEncoder(os.Stdout).Encode(result))
}

var special = map[reflect.Type]bool{
	reflect.TypeOf(resource.Quantity{}): true, reflect.TypeOf(intstr.IntOrString{}): true,
	reflect.TypeOf(metav1.Time{}): true, reflect.TypeOf(metav1.MicroTime{}): true,
	reflect.TypeOf(runtime.RawExtension{}): true, reflect.TypeOf(metav1.FieldsV1{}): true,
	reflect.TypeOf(metav1.ObjectMeta{}): true, reflect.TypeOf(metav1.TypeMeta{}): true,
}

func fill(value reflect.Value, random *rand.Rand, depth int) {
	if special[value.Type()] || depth > 16 {
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		for index := 0; index < value.NumField(); index++ {
			if name := value.Type().Field(index).Name; name != "Status" && name != "TypeMeta" && name != "ObjectMeta" {
				fill(value.Field(index), random, depth+1)
			}
		}
	case reflect.Pointer:
		switch value.Type().Elem().Kind() {
		case reflect.Struct:
			if random.Float64() < 0.6 {
				value.Set(reflect.New(value.Type().Elem()))
				fill(value.Elem(), random, depth+1)
			}
		case reflect.String:
			if random.Float64() < 0.2 {
				value.Set(reflect.New(value.Type().Elem()))
				fill(value.Elem(), random, depth+1)
			}
		}
	case reflect.Slice:
		if random.Float64() < 0.6 && value.Type().Elem().Kind() == reflect.Struct {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			if random.Float64() < 0.9 {
				fill(value.Index(0), random, depth+1)
			}
		}
	case reflect.Map:
		if random.Float64() < 0.5 && value.Type().Elem() == reflect.TypeOf(resource.Quantity{}) {
			value.Set(reflect.MakeMap(value.Type()))
			key := reflect.New(value.Type().Key()).Elem()
			key.SetString("cpu")
			value.SetMapIndex(key, reflect.ValueOf(resource.MustParse(fmt.Sprint(1+random.Intn(9)))))
		}
	case reflect.String:
		value.SetString(texts[random.Intn(len(texts))])
	case reflect.Bool:
		value.SetBool(random.Float64() < 0.3)
	case reflect.Int32:
		if random.Float64() < 0.3 {
			value.SetInt(1 + random.Int63n(9))
		}
	}
}

func paths(object runtime.Object) map[string]any {
	body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	must(err)
	found := map[string]any{}
	walk(body, "", found)
	return found
}

func walk(value any, path string, found map[string]any) {
	switch node := value.(type) {
	case map[string]any:
		for key, item := range node {
			if path == "" {
				walk(item, key, found)
			} else {
				walk(item, path+"."+key, found)
			}
		}
		if len(node) == 0 {
			found[path] = "{}"
		}
	case []any:
		for _, item := range node {
			walk(item, path+".*", found)
		}
		if len(node) == 0 {
			found[path] = "[]"
		}
	case nil:
	default:
		found[path] = value
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
