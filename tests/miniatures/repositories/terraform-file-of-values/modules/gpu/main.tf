resource "helm_release" "this" {
  name             = "gpu-operator"
  namespace        = "gpu-operator"
  repository       = "https://helm.ngc.nvidia.com/nvidia"
  chart            = "gpu-operator"
  version          = var.chart_version
  create_namespace = true
  values = [file("${path.module}/values.yaml"), var.overrides]
}

variable "chart_version" {
  type    = string
  default = "v25.10.1"
}

variable "overrides" {
  type    = string
  default = null
}
