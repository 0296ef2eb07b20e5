package nfdworker

import (
	"sigs.k8s.io/node-feature-discovery/source"
	"sigs.k8s.io/yaml"
)

// Reads says whether the worker reads a configuration, as its own configure does it.
func Reads(text string) error {
	c := newDefaultConfig()
	sources := source.GetAllConfigurableSources()
	c.Sources = make(map[string]source.Config, len(sources))
	for _, s := range sources {
		c.Sources[s.Name()] = s.NewConfig()
	}
	return yaml.Unmarshal([]byte(text), c)
}
