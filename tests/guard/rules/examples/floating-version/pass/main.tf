resource "helm_release" "gpu" {
  name       = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  chart      = "gpu-operator"
  version    = var.gpu_operator_version
  values     = [yamlencode({ nfd = { enabled = false }, devicePlugin = { enabled = false } })]
}
