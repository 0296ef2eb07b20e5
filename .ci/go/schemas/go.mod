module poolsmith.example/schemas

go 1.24.0

require (
	github.com/owenrumney/go-sarif/v3 v3.3.1
	github.com/yannh/kubeconform v0.7.0
)
