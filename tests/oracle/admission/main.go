// Asks Kubernetes' own evaluator: JSON lines in, JSON lines out. See README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

type named struct{ Name, Expression string }

// tree reads whole numbers as the API server does.
type tree map[string]any

func (t *tree) UnmarshalJSON(data []byte) error {
	return utiljson.Unmarshal(data, (*map[string]any)(t))
}

type question struct {
	ID, Kubernetes, Mode         string
	Expression                   string
	Returns                      []string
	Variables                    []named
	HasParams, Authorizer, Typed bool
	Policy                       *admissionregistrationv1.ValidatingAdmissionPolicy
	Bindings                     []admissionregistrationv1.ValidatingAdmissionPolicyBinding
	Object, OldObject, Params    tree
	Options                      tree
	NamespaceObject              *corev1.Namespace
	Namespace, Name, Operation   string
	Resource, Subresource        string
	UserInfo                     *user.DefaultInfo
	DryRun                       bool
	Times                        int
}

type decision struct {
	Validation                          int
	Action, Evaluation, Message, Reason string
}

type answer struct {
	ID           string            `json:"id"`
	Problem      string            `json:"problem,omitempty"`
	Panic        string            `json:"panic,omitempty"`
	Unstable     bool              `json:"unstable,omitempty"`
	CompileError string            `json:"compileError,omitempty"`
	Type         string            `json:"type,omitempty"`
	Value        string            `json:"value,omitempty"`
	Error        string            `json:"error,omitempty"`
	Cost         int64             `json:"cost,omitempty"`
	Matches      *bool             `json:"matches,omitempty"`
	Bindings     map[string]bool   `json:"bindings,omitempty"`
	Decisions    []decision        `json:"decisions,omitempty"`
	Annotations  []string          `json:"auditAnnotations,omitempty"`
	Compile      map[string]string `json:"compileErrors,omitempty"`
}

type accessor struct {
	name, text string
	returns    []*cel.Type
}

func (a accessor) GetExpression() string    { return a.text }
func (a accessor) GetName() string          { return a.name }
func (a accessor) ReturnTypes() []*cel.Type { return a.returns }

type namespaces map[string]*corev1.Namespace

func (n namespaces) List(labels.Selector) ([]*corev1.Namespace, error) { return nil, nil }
func (n namespaces) Get(name string) (*corev1.Namespace, error) {
	if found, ok := n[name]; ok {
		return found, nil
	}
	return nil, errors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
}

var types = map[string]*cel.Type{"bool": cel.BoolType, "string": cel.StringType, "null": cel.NullType, "any": cel.AnyType}

func object(raw map[string]any, typed bool) (runtime.Object, error) {
	if raw == nil {
		return nil, nil
	}
	out := &unstructured.Unstructured{Object: raw}
	if !typed || !scheme.Scheme.Recognizes(out.GroupVersionKind()) {
		return out, nil
	}
	into, err := scheme.Scheme.New(out.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	data, _ := json.Marshal(raw)
	if err := json.Unmarshal(data, into); err != nil {
		return nil, err
	}
	into.GetObjectKind().SetGroupVersionKind(out.GroupVersionKind())
	return into, nil
}

func attributes(q question) (*admission.VersionedAttributes, error) {
	current, err := object(q.Object, q.Typed)
	if err != nil {
		return nil, err
	}
	old, err := object(q.OldObject, q.Typed)
	if err != nil {
		return nil, err
	}
	main := &unstructured.Unstructured{Object: q.Object}
	if q.Object == nil {
		main = &unstructured.Unstructured{Object: q.OldObject}
	}
	kind := schema.GroupVersionKind{}
	if main.Object != nil {
		kind = main.GroupVersionKind()
		if q.Namespace == "" {
			q.Namespace = main.GetNamespace()
		}
		if q.Name == "" {
			q.Name = main.GetName()
		}
	}
	if q.Resource == "" {
		q.Resource = strings.ToLower(kind.Kind) + "s"
		if strings.HasSuffix(q.Resource, "ys") && !strings.HasSuffix(q.Resource, "eys") {
			q.Resource = strings.TrimSuffix(q.Resource, "ys") + "ies"
		}
	}
	operation := admission.Create
	if q.Operation != "" {
		operation = admission.Operation(q.Operation)
	}
	options, _ := object(q.Options, false)
	info := q.UserInfo
	if info == nil {
		info = &user.DefaultInfo{}
	}
	gvr := kind.GroupVersion().WithResource(q.Resource)
	record := admission.NewAttributesRecord(current, old, kind, q.Namespace, q.Name, gvr, q.Subresource, operation, options, q.DryRun, info)
	return &admission.VersionedAttributes{Attributes: record, VersionedObject: current, VersionedOldObject: old, VersionedKind: kind}, nil
}

// defaults are what the API server fills in when it stores a policy or a binding.
func defaults(match *admissionregistrationv1.MatchResources) {
	if match == nil {
		return
	}
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &v1.LabelSelector{}
	}
	if match.ObjectSelector == nil {
		match.ObjectSelector = &v1.LabelSelector{}
	}
	if match.MatchPolicy == nil {
		equivalent := admissionregistrationv1.Equivalent
		match.MatchPolicy = &equivalent
	}
	all := admissionregistrationv1.AllScopes
	for _, rules := range [][]admissionregistrationv1.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range rules {
			if rules[i].Scope == nil {
				rules[i].Scope = &all
			}
		}
	}
}

// templates are made once for a version, as the API server makes its own.
var templates = map[string]*plugincel.CompositionEnv{}

func compiler(q question) (*plugincel.CompositedCompiler, environment.Type, error) {
	mode := environment.NewExpressions
	if q.Mode == "stored" {
		mode = environment.StoredExpressions
	}
	if q.Kubernetes == "" {
		q.Kubernetes = "1.34"
	}
	at, err := version.ParseGeneric(q.Kubernetes)
	if err != nil {
		return nil, mode, err
	}
	template, known := templates[at.String()]
	if !known {
		template, err = plugincel.NewCompositionEnv(plugincel.VariablesTypeName, environment.MustBaseEnvSet(at, true))
		if err != nil {
			return nil, mode, err
		}
		templates[at.String()] = template
	}
	return plugincel.NewCompositedCompilerFromTemplate(template), mode, nil
}

func shown(value ref.Val) string {
	if value == nil {
		return ""
	}
	if native, err := value.ConvertToNative(reflect.TypeFor[*structpb.Value]()); err == nil {
		if raw, err := json.Marshal(native.(*structpb.Value).AsInterface()); err == nil {
			return string(raw)
		}
	}
	return fmt.Sprintf("%v", value.Value())
}

func expression(ctx context.Context, q question, out *answer) error {
	attr, err := attributes(q)
	if err != nil {
		return err
	}
	c, mode, err := compiler(q)
	if err != nil {
		return err
	}
	options := plugincel.OptionalVariableDeclarations{HasParams: q.HasParams, HasAuthorizer: q.Authorizer, StrictCost: true}
	for _, one := range q.Variables {
		result := c.CompileAndStoreVariable(accessor{one.Name, one.Expression, []*cel.Type{cel.AnyType}}, options, mode)
		if result.Error != nil {
			out.Compile = map[string]string{one.Name: result.Error.Error()}
		}
	}
	one := accessor{"", q.Expression, []*cel.Type{cel.AnyType}}
	if len(q.Returns) > 0 {
		one.returns = nil
		for _, name := range q.Returns {
			one.returns = append(one.returns, types[name])
		}
	}
	compiled := c.CompileCELExpression(one, options, mode)
	if compiled.Error != nil {
		out.CompileError = compiled.Error.Error()
		return nil
	}
	out.Type = compiled.OutputType.String()
	params, _ := object(q.Params, false)
	request := plugincel.CreateAdmissionRequest(attr.Attributes, v1.GroupVersionResource(attr.GetResource()), v1.GroupVersionKind(attr.VersionedKind))
	condition := c.CompileCondition([]plugincel.ExpressionAccessor{one}, options, mode)
	bindings := plugincel.OptionalVariableBindings{VersionedParams: params}
	evaluate := func() (string, string) {
		results, left, err := condition.ForInput(ctx, attr, request, bindings, plugincel.CreateNamespaceObject(q.NamespaceObject), celconfig.RuntimeCELCostBudget)
		if err != nil {
			return "", err.Error()
		}
		out.Cost = celconfig.RuntimeCELCostBudget - left
		if results[0].Error != nil {
			return "", results[0].Error.Error()
		}
		return shown(results[0].EvalResult), ""
	}
	out.Value, out.Error = evaluate()
	for again := 1; again < q.Times; again++ {
		value, failure := evaluate()
		out.Unstable = out.Unstable || value != out.Value || (failure == "") != (out.Error == "")
	}
	return nil
}

func policy(ctx context.Context, q question, out *answer) error {
	attr, err := attributes(q)
	if err != nil {
		return err
	}
	c, mode, err := compiler(q)
	if err != nil {
		return err
	}
	spec := q.Policy.Spec
	options := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true, StrictCost: true}
	plain := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, StrictCost: true}
	out.Compile = map[string]string{}
	check := func(name string, one plugincel.ExpressionAccessor, with plugincel.OptionalVariableDeclarations) {
		if result := c.CompileCELExpression(one, with, mode); result.Error != nil {
			out.Compile[name] = result.Error.Error()
		}
	}
	for _, one := range spec.Variables {
		variable := &validating.Variable{Name: one.Name, Expression: one.Expression}
		if result := c.CompileAndStoreVariable(variable, options, mode); result.Error != nil {
			out.Compile["variables."+one.Name] = result.Error.Error()
		}
	}
	var conditions, validations, messages, annotations []plugincel.ExpressionAccessor
	for i := range spec.MatchConditions {
		one := (*matchconditions.MatchCondition)(&spec.MatchConditions[i])
		check("matchConditions."+spec.MatchConditions[i].Name, one, options)
		conditions = append(conditions, one)
	}
	for i, one := range spec.Validations {
		validation := &validating.ValidationCondition{Expression: one.Expression, Message: one.Message, Reason: one.Reason}
		check(fmt.Sprintf("validations[%d].expression", i), validation, options)
		validations = append(validations, validation)
		if one.MessageExpression == "" {
			messages = append(messages, nil)
			continue
		}
		message := &validating.MessageExpressionCondition{MessageExpression: one.MessageExpression}
		check(fmt.Sprintf("validations[%d].messageExpression", i), message, plain)
		messages = append(messages, message)
	}
	for i, one := range spec.AuditAnnotations {
		annotation := &validating.AuditAnnotationCondition{Key: one.Key, ValueExpression: one.ValueExpression}
		check(fmt.Sprintf("auditAnnotations[%d]", i), annotation, options)
		annotations = append(annotations, annotation)
	}
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		matcher = matchconditions.NewMatcher(c.CompileCondition(conditions, options, mode), spec.FailurePolicy, "policy", "validate", q.Policy.Name)
	}
	validator := validating.NewValidator(c.CompileCondition(validations, options, mode), matcher,
		c.CompileCondition(annotations, options, mode), c.CompileCondition(messages, plain, mode), spec.FailurePolicy)
	if spec.MatchConstraints != nil {
		lister := namespaces{}
		if q.NamespaceObject != nil {
			lister[q.NamespaceObject.Name] = q.NamespaceObject
		}
		defaults(spec.MatchConstraints)
		rules := generic.NewPolicyMatcher(matching.NewMatcher(lister, fake.NewSimpleClientset()))
		interfaces := admission.NewObjectInterfacesFromScheme(scheme.Scheme)
		matches, _, _, err := rules.DefinitionMatches(attr, interfaces, validating.NewValidatingAdmissionPolicyAccessor(q.Policy))
		if err != nil {
			out.Error = err.Error()
		}
		out.Matches = &matches
		out.Bindings = map[string]bool{}
		for i := range q.Bindings {
			defaults(q.Bindings[i].Spec.MatchResources)
			matches, err := rules.BindingMatches(attr, interfaces, validating.NewValidatingAdmissionPolicyBindingAccessor(&q.Bindings[i]))
			out.Bindings[q.Bindings[i].Name] = err == nil && matches
		}
	}
	params, _ := object(q.Params, false)
	result := validator.Validate(ctx, attr.GetResource(), attr, params, q.NamespaceObject, celconfig.RuntimeCELCostBudget, nil)
	for i, one := range result.Decisions {
		out.Decisions = append(out.Decisions, decision{i, string(one.Action), string(one.Evaluation), one.Message, string(one.Reason)})
	}
	for _, one := range result.AuditAnnotations {
		out.Annotations = append(out.Annotations, fmt.Sprintf("%s %s %s %s", one.Key, one.Action, one.Value, one.Error))
	}
	return nil
}

// guarded answers with what the API server would log when cel-go panics: it stores no such policy.
func guarded(ctx context.Context, q question, out *answer) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			out.Panic = fmt.Sprintf("%v", reason)
		}
	}()
	if q.Policy != nil {
		return policy(ctx, q, out)
	}
	return expression(ctx, q, out)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "declarations" {
		declarations(34)
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	writer := json.NewEncoder(os.Stdout)
	writer.SetEscapeHTML(false)
	for lines.Scan() {
		var q question
		out := &answer{}
		err := json.Unmarshal(lines.Bytes(), &q)
		out.ID = q.ID
		if err == nil {
			err = guarded(context.Background(), q, out)
		}
		if err != nil {
			out.Problem = err.Error()
		}
		if err := writer.Encode(out); err != nil {
			panic(err)
		}
	}
}
