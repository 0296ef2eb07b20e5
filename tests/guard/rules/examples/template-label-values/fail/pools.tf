resource "google_container_node_pool" "gpu" {
  name = "gpu"
  node_config {
    labels = {
      "nvidia.com/gpu.deploy.driver" = "False"
    }
  }
}
