// What Helm makes of a chart and values, many times in one process: the code path of `helm template`.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"sigs.k8s.io/yaml"
)

type question struct {
	ID        string `json:"id"`
	Chart     string `json:"chart"`
	Release   string `json:"release"`
	Namespace string `json:"namespace"`
	Version   string `json:"version"`
	// Where it is not given, the one that Helm takes without a cluster: v1.20.0.
	Kubernetes string                 `json:"kubernetes"`
	APIs       []string               `json:"apis"`
	Values     map[string]interface{} `json:"values"`
}

type answer struct {
	ID      string            `json:"id"`
	Objects []json.RawMessage `json:"objects,omitempty"`
	Error   string            `json:"error,omitempty"`
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(rendered(asked)); err != nil {
			os.Exit(1)
		}
	}
}

// Helm changes a chart while it installs it, so that each question loads it anew.
func load(path string) (*chart.Chart, error) { return loader.Load(path) }

func rendered(asked question) answer {
	loaded, err := load(asked.Chart)
	if err != nil {
		return answer{ID: asked.ID, Error: err.Error()}
	}
	// As a release stamps it: a checkout has another version in Chart.yaml.
	if asked.Version != "" {
		loaded.Metadata.Version, loaded.Metadata.AppVersion = asked.Version, asked.Version
	}
	client, err := registry.NewClient()
	if err != nil {
		return answer{ID: asked.ID, Error: err.Error()}
	}
	install := action.NewInstall(&action.Configuration{
		Releases:       storage.Init(driver.NewMemory()),
		KubeClient:     &fake.PrintingKubeClient{Out: io.Discard},
		Capabilities:   chartutil.DefaultCapabilities.Copy(),
		RegistryClient: client,
		Log:            func(string, ...interface{}) {},
	})
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	// A schema only refuses values: without it more of them can be compared.
	install.SkipSchemaValidation = true
	install.ReleaseName, install.Namespace = asked.Release, asked.Namespace
	install.APIVersions = asked.APIs
	if asked.Kubernetes != "" {
		if install.KubeVersion, err = chartutil.ParseKubeVersion(asked.Kubernetes); err != nil {
			return answer{ID: asked.ID, Error: err.Error()}
		}
	}
	release, err := install.Run(loaded, asked.Values)
	if err != nil {
		return answer{ID: asked.ID, Error: err.Error()}
	}
	texts := releaseutil.SplitManifests(release.Manifest)
	for name := range texts {
		texts[name] += "\n" // taken off by the split, and there for whoever installs
	}
	for number, hook := range release.Hooks {
		texts[fmt.Sprintf("hook-%d", number)] = hook.Manifest
	}
	objects := []json.RawMessage{}
	for _, text := range texts {
		object, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return answer{ID: asked.ID, Error: err.Error()}
		}
		if string(object) != "null" {
			objects = append(objects, object)
		}
	}
	return answer{ID: asked.ID, Objects: objects}
}
