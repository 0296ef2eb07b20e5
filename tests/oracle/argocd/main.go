// Argo CD's own diffs of desired and live objects, asked with JSON lines. See README.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/util/proto"
)

type question struct {
	ID        string         `json:"id"`
	Diff      string         `json:"diff"`
	Manager   string         `json:"manager"`
	Config    map[string]any `json:"config"`
	Live      map[string]any `json:"live"`
	Predicted map[string]any `json:"predicted"`
}

type answer struct {
	ID        string          `json:"id"`
	Modified  bool            `json:"modified"`
	Live      json.RawMessage `json:"live,omitempty"`
	Predicted json.RawMessage `json:"predicted,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// dryRun answers what the API server answered to the dry run.
type dryRun map[string]any

func (r dryRun) Run(context.Context, *unstructured.Unstructured, string) (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// parser reads the server's /openapi/v2, by which the structured merge knows lists and fields.
func parser(path string) (*managedfields.GvkParser, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	document, err := openapi_v2.ParseDocument(data)
	if err != nil {
		return nil, err
	}
	models, err := proto.NewOpenAPIData(document)
	if err != nil {
		return nil, err
	}
	return managedfields.NewGVKParser(models, false)
}

func ask(q question, parser *managedfields.GvkParser) answer {
	options := []diff.Option{diff.WithGVKParser(parser), diff.WithManager(q.Manager)}
	switch q.Diff {
	case "structured-merge":
		options = append(options, diff.WithStructuredMergeDiff(true))
	case "server-side":
		options = append(options, diff.WithServerSideDiff(true), diff.WithIgnoreMutationWebhook(true),
			diff.WithServerSideDryRunner(dryRun(q.Predicted)))
	}
	config, live := &unstructured.Unstructured{Object: q.Config}, &unstructured.Unstructured{Object: q.Live}
	found, err := diff.Diff(config, live, options...)
	if err != nil {
		return answer{ID: q.ID, Error: err.Error()}
	}
	result := answer{ID: q.ID, Modified: found.Modified}
	if found.Modified {
		result.Live, result.Predicted = found.NormalizedLive, found.PredictedLive
	}
	return result
}

func main() {
	made, err := parser(os.Args[1])
	if err != nil {
		panic(err)
	}
	decoder, encoder := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for decoder.More() {
		var q question
		if err := decoder.Decode(&q); err != nil {
			panic(err)
		}
		if err := encoder.Encode(ask(q, made)); err != nil {
			panic(err)
		}
	}
}
