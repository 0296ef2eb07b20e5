resource "azurerm_kubernetes_cluster" "main" {
  name                = "lab"
  location            = "westeurope"
  resource_group_name = "lab"
  dns_prefix          = "lab"
  default_node_pool {
    name       = "system"
    vm_size    = "Standard_D4s_v5"
    node_count = 1
  }
  identity { type = "SystemAssigned" }
}
resource "azurerm_kubernetes_cluster_node_pool" "gpu" {
  name                  = "gpu"
  kubernetes_cluster_id = azurerm_kubernetes_cluster.main.id
  vm_size               = "Standard_NC24ads_A100_v4"
  priority              = "Spot"
  eviction_policy       = "Delete"
  node_labels           = { sku = "gpu" }
  node_taints           = ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
}
