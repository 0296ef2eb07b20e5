resource "google_container_node_pool" "gpu" {
  name    = "gpu"
  cluster = "lab"
  node_config {
    machine_type = "g2-standard-8"
    image_type   = "COS_CONTAINERD"
    guest_accelerator {
      type  = "nvidia-l4"
      count = 1
      gpu_driver_installation_config { gpu_driver_version = "LATEST" }
    }
  }
}
