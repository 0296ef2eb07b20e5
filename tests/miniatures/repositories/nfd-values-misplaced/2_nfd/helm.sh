helm repo add nfd https://kubernetes-sigs.github.io/node-feature-discovery/charts
helm install nfd/node-feature-discovery -f nfd_values.yaml --namespace nfd --create-namespace --generate-name
