resource "helm_release" "gpu_operator" {
  name       = "gpu-operator"
  namespace  = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  chart      = "gpu-operator"
  version    = "v25.3.4"

  values = [yamlencode({
    driver = {
      version       = "570.195.03"
      upgradePolicy = { autoUpgrade = false }
    }
    toolkit = {
      enbled = true
    }
  })]
}
