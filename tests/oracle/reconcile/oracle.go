// What the ClusterPolicy controller of a release creates, many times in one process: its own reconcile code against a
// server in memory. build.py puts this file into the package `controllers` of a checkout, beside a shim for what tags
// name differently.
package controllers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/go-logr/logr"
	secv1 "github.com/openshift/api/security/v1"
	promv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gpuv1 "github.com/NVIDIA/gpu-operator/api/nvidia/v1"
)

type question struct {
	Policy    json.RawMessage    `json:"policy"`
	Nodes     []corev1.Node      `json:"nodes"`
	Maps      []corev1.ConfigMap `json:"maps"`
	Env       map[string]string  `json:"env"`
	Namespace string             `json:"namespace"`
	Assets    string             `json:"assets"`
	Monitors  bool               `json:"monitors"`
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
}

func TestOracle(t *testing.T) {
	// Its own few kinds: the server in memory goes through all of them for each object that is created.
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		gpuv1.AddToScheme, promv1.AddToScheme, apiextensionsv1.AddToScheme, secv1.Install, appsv1.AddToScheme,
		corev1.AddToScheme, nodev1.AddToScheme, rbacv1.AddToScheme,
	} {
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
	var policy gpuv1.ClusterPolicy
	if err := json.Unmarshal(asked.Policy, &policy); err != nil {
		return answer{Error: err.Error()}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: asked.Namespace}}
	builder := fake.NewClientBuilder().WithScheme(kinds).WithObjects(&policy, namespace).
		WithIndex(&appsv1.DaemonSet{}, "metadata.nvidia.clusterpolicy.controller", owner)
	clusterPolicyCtrl.operatorNamespace = asked.Namespace
	for number := range asked.Nodes {
		builder = builder.WithObjects(&asked.Nodes[number])
	}
	for number := range asked.Maps {
		builder = builder.WithObjects(&asked.Maps[number])
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
	n := &ClusterPolicyController{
		client: server, ctx: ctx, scheme: kinds, logger: logr.Discard(), operatorNamespace: asked.Namespace,
		k8sVersion: "v1.34.0", operatorMetrics: clusterPolicyCtrl.operatorMetrics, singleton: &policy,
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
	if err := oracleLabel(ctx, server); err != nil {
		return answer{Error: err.Error()}
	}
	reconciler := &ClusterPolicyReconciler{Client: server, Log: logr.Discard(), Scheme: kinds}
	if err := n.init(ctx, reconciler, &policy); err != nil {
		return answer{Error: err.Error()}
	}
	for !n.last() {
		if _, err := n.step(); err != nil {
			return answer{Error: err.Error()}
		}
	}
	for _, list := range lists {
		found.Objects = append(found.Objects, listed(ctx, server, list)...)
	}
	return found
}

// As the manager indexes DaemonSets.
func owner(object client.Object) []string {
	found := metav1.GetControllerOf(object)
	if found == nil || found.Kind != "ClusterPolicy" {
		return nil
	}
	return []string{found.Name}
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
