resource "azurerm_kubernetes_cluster_node_pool" "gpu" {
  name = "gpu"
  node_labels = {
    "nvidia.com/gpu.deploy.operands" = "false"
    "nvidia.com/gpu.workload.config" = var.workload
    "nvidia.com/gpu.deploy.driver"   = var.driver ? "true" : "no"
    "nvidia.com/gpu.deploy.toolkit"  = "${var.toolkit}"
  }
}

# labels of an alert, not of nodes: other keys
locals {
  routes = { labels = { "nvidia.com/gpu.deploy.operands" = "no" } }
}
