// Stands in pkg/featuregates: what the driver says of a text of feature gates, from its defaults on.
package featuregates

// Asked is `set` where the flag's parser refuses the text, `validate` where the driver stops at what it sets, else `ok`.
func Asked(text string) string {
	featureGates = newFeatureGates(featureGateEmulationVersion)
	if err := featureGates.Set(text); err != nil {
		return "set"
	}
	if err := ValidateFeatureGates(); err != nil {
		return "validate"
	}
	return "ok"
}
