resource "helm_release" "gpu" {
  name       = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  chart      = "gpu-operator"
  version    = "~> 25.3"
  values     = [yamlencode({ nfd = { enabled = false }, devicePlugin = { enabled = false } })]
}
