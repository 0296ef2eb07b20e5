// What the controllers of a release create for ClusterPolicy, NVIDIADriver and GPUCluster, many times in one process:
// their own reconcile code against a server in memory. build.py puts this file into the package `controllers` of a
// checkout, beside a shim for what tags name differently.
package controllers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/go-logr/logr"
	secv1 "github.com/openshift/api/security/v1"
	promv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gpuv1 "github.com/NVIDIA/gpu-operator/api/nvidia/v1"
	nvidiav1alpha1 "github.com/NVIDIA/gpu-operator/api/nvidia/v1alpha1"
	"github.com/NVIDIA/gpu-operator/controllers/clusterinfo"
	"github.com/NVIDIA/gpu-operator/internal/consts"
	"github.com/NVIDIA/gpu-operator/internal/validator"
)

type question struct {
	Policies  []gpuv1.ClusterPolicy         `json:"policies"`
	Drivers   []nvidiav1alpha1.NVIDIADriver `json:"drivers"`
	Clusters  []json.RawMessage             `json:"clusters"`
	Nodes     []corev1.Node                 `json:"nodes"`
	Maps      []corev1.ConfigMap            `json:"maps"`
	Secrets   []corev1.Secret               `json:"secrets"`
	Env       map[string]string             `json:"env"`
	Namespace string                        `json:"namespace"`
	Assets    string                        `json:"assets"`
	Monitors  bool                          `json:"monitors"`
}

type answer struct {
	Objects []client.Object `json:"objects,omitempty"`
	Error   string          `json:"error,omitempty"`
}

var parsed ClusterPolicyController

var stateLine = regexp.MustCompile(`addState\(n, "/opt/gpu-operator/([^"]+)"\)`)

var lists = []client.ObjectList{
	&appsv1.DaemonSetList{}, &appsv1.DeploymentList{}, &corev1.ConfigMapList{}, &corev1.ServiceList{},
	&corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}, &rbacv1.ClusterRoleList{},
	&rbacv1.ClusterRoleBindingList{}, &nodev1.RuntimeClassList{}, &promv1.ServiceMonitorList{},
	&promv1.PrometheusRuleList{}, &corev1.NodeList{}, &corev1.NamespaceList{},
	unknown("resource.k8s.io/v1", "DeviceClass"), unknown("resource.k8s.io/v1", "ResourceClaimTemplate"),
	unknown("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
	unknown("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
}

// Kinds that not each tag has in its code.
func unknown(version, kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(version)
	list.SetKind(kind + "List")
	return list
}

const kubernetes = "v1.34.0"

// A cluster that is no OpenShift and has DRA; what else a tag asks of it is asked of nothing.
type cluster struct{ clusterinfo.Interface }

func (cluster) GetContainerRuntime() (string, error)               { return gpuv1.Containerd.String(), nil }
func (cluster) GetKubernetesVersion() (string, error)              { return kubernetes, nil }
func (cluster) GetOpenshiftVersion() (string, error)               { return "", nil }
func (cluster) GetOpenshiftDriverToolkitImages() map[string]string { return nil }
func (cluster) GetDRAResourceGVR() (schema.GroupVersionResource, bool, error) {
	return schema.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses"}, true, nil
}

// What a controller would write into the conditions of its resource: it returns no error where it stops for good.
type conditionsSeen struct{ stopped string }

var waiting = map[string]bool{"DriverNotReady": true, "OperandNotReady": true, "Reconciled": true}

func (*conditionsSeen) SetConditionsReady(context.Context, any, string, string) error { return nil }
func (seen *conditionsSeen) SetConditionsError(_ context.Context, _ any, reason, message string) error {
	if !waiting[reason] {
		seen.stopped = reason + ": " + message
	}
	return nil
}

func TestOracle(t *testing.T) {
	// Its own few kinds: the server in memory goes through all of them for each object that is created.
	kinds := runtime.NewScheme()
	for _, add := range append(oracleKinds,
		gpuv1.AddToScheme, nvidiav1alpha1.AddToScheme, promv1.AddToScheme, apiextensionsv1.AddToScheme, secv1.Install, appsv1.AddToScheme,
		corev1.AddToScheme, nodev1.AddToScheme, rbacv1.AddToScheme, admissionv1.AddToScheme,
	) {
		for _, known := range []*runtime.Scheme{kinds, scheme.Scheme} {
			if err := add(known); err != nil {
				t.Fatal(err)
			}
		}
	}
	source, err := os.ReadFile(os.Getenv("ORACLE_STATES"))
	if err != nil {
		t.Fatal(err)
	}
	in, out := os.NewFile(3, "questions"), os.NewFile(4, "answers")
	lines, encoder := bufio.NewScanner(in), json.NewEncoder(out)
	lines.Buffer(nil, 1<<26)
	clusterPolicyCtrl.operatorMetrics = oracleMetrics()
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			t.Fatal(err)
		}
		if err := encoder.Encode(made(asked, kinds, stateLine.FindAllSubmatch(source, -1))); err != nil {
			t.Fatal(err)
		}
	}
}

func made(asked question, kinds *runtime.Scheme, states [][][]byte) (found answer) {
	defer func() {
		if cause := recover(); cause != nil {
			found = answer{Error: fmt.Sprint(cause)}
		}
	}()
	ctx := context.Background()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: asked.Namespace}}
	builder := fake.NewClientBuilder().WithScheme(kinds).WithObjects(namespace).
		WithStatusSubresource(&nvidiav1alpha1.NVIDIADriver{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(client.Object) []string { return nil }).
		WithIndex(&appsv1.DaemonSet{}, clusterPolicyControllerIndexKey, ownedBy("ClusterPolicy")).
		WithIndex(&appsv1.DaemonSet{}, consts.NVIDIADriverControllerIndexKey, ownedBy("NVIDIADriver"))
	os.Setenv("OPERATOR_NAMESPACE", asked.Namespace)
	clusterPolicyCtrl.operatorNamespace = asked.Namespace
	for number := range asked.Policies {
		builder = builder.WithObjects(&asked.Policies[number])
	}
	for number := range asked.Drivers {
		builder = builder.WithObjects(&asked.Drivers[number])
	}
	for number := range asked.Nodes {
		builder = builder.WithObjects(&asked.Nodes[number])
	}
	for number := range asked.Maps {
		builder = builder.WithObjects(&asked.Maps[number])
	}
	for number := range asked.Secrets {
		builder = builder.WithObjects(&asked.Secrets[number])
	}
	for _, text := range asked.Clusters {
		object := oracleCluster()
		if err := json.Unmarshal(text, object); err != nil {
			return answer{Error: err.Error()}
		}
		builder = builder.WithObjects(object).WithStatusSubresource(object)
	}
	if asked.Monitors {
		for _, name := range []string{ServiceMonitorCRDName, "prometheusrules.monitoring.coreos.com"} {
			builder = builder.WithObjects(&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}
	for name, value := range asked.Env {
		os.Setenv(name, value)
	}
	server := builder.Build()
	if err := oracleLabel(ctx, server, asked.Namespace); err != nil {
		return answer{Error: err.Error()}
	}
	for number := range asked.Policies {
		if err := policyMade(ctx, server, &asked.Policies[number], asked, states); err != nil {
			return answer{Error: err.Error()}
		}
	}
	for _, driver := range asked.Drivers {
		if err := reconciled(ctx, server, nvidiav1alpha1.NVIDIADriverCRDName, driver.Name, asked.Namespace); err != nil {
			return answer{Error: err.Error()}
		}
	}
	for range asked.Clusters {
		if err := reconciled(ctx, server, "GPUCluster", "gpu-cluster", asked.Namespace); err != nil {
			return answer{Error: err.Error()}
		}
	}
	for _, list := range lists {
		found.Objects = append(found.Objects, listed(ctx, server, list)...)
	}
	return found
}

func policyMade(ctx context.Context, server client.Client, policy *gpuv1.ClusterPolicy, asked question, states [][][]byte) error {
	n := &ClusterPolicyController{
		client: server, ctx: ctx, scheme: server.Scheme(), logger: logr.Discard(), operatorNamespace: asked.Namespace,
		k8sVersion: kubernetes, operatorMetrics: clusterPolicyCtrl.operatorMetrics, singleton: policy,
	}
	defaultGPUWorkloadConfig = gpuWorkloadConfigContainer
	// Parsed once: what is created is a copy of it.
	if parsed.controls == nil {
		for _, state := range states {
			addState(n, asked.Assets+"/"+string(state[1]))
		}
		parsed = *n
	}
	n.controls, n.resources, n.stateNames = parsed.controls, parsed.resources, parsed.stateNames
	reconciler := &ClusterPolicyReconciler{Client: server, Log: logr.Discard(), Scheme: server.Scheme()}
	if err := n.init(ctx, reconciler, policy); err != nil {
		return err
	}
	for !n.last() {
		if _, err := n.step(); err != nil {
			return err
		}
	}
	return nil
}

// One pass of the controller of a kind; what stops it stands in the conditions.
func reconciled(ctx context.Context, server client.Client, kind, name, namespace string) error {
	manager, err := oracleManager(kind, namespace, server)
	if err != nil {
		return err
	}
	seen := &conditionsSeen{}
	var controller reconcile.Reconciler = &NVIDIADriverReconciler{
		Client: server, Scheme: server.Scheme(), ClusterInfo: cluster{}, stateManager: manager, conditionUpdater: seen,
		nodeSelectorValidator: validator.NewNodeSelectorValidator(server),
	}
	if kind != nvidiav1alpha1.NVIDIADriverCRDName {
		controller = oracleClusterController(manager, seen, server)
	}
	oracleNamespace(controller, namespace)
	request := reconcile.Request{}
	request.Name = name
	if _, err := controller.Reconcile(ctx, request); err != nil {
		return err
	}
	if seen.stopped != "" {
		return errors.New(seen.stopped)
	}
	return nil
}

// The field is not there at each tag.
func oracleNamespace(controller reconcile.Reconciler, namespace string) {
	if field := reflect.ValueOf(controller).Elem().FieldByName("Namespace"); field.IsValid() {
		field.SetString(namespace)
	}
}

// As the manager indexes DaemonSets.
func ownedBy(kind string) client.IndexerFunc {
	return func(object client.Object) []string {
		found := metav1.GetControllerOf(object)
		if found == nil || found.Kind != kind {
			return nil
		}
		return []string{found.Name}
	}
}

func listed(ctx context.Context, server client.Client, list client.ObjectList) (found []client.Object) {
	list = list.DeepCopyObject().(client.ObjectList)
	if err := server.List(ctx, list); err != nil {
		panic(err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		panic(err)
	}
	for _, item := range items {
		object := item.(client.Object)
		kind, err := apiutil.GVKForObject(object, server.Scheme())
		if err != nil {
			panic(err)
		}
		object.GetObjectKind().SetGroupVersionKind(kind)
		object.SetResourceVersion("")
		found = append(found, object)
	}
	return found
}
