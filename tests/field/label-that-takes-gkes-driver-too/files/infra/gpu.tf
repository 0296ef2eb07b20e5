resource "google_container_node_pool" "gpu" {
  name    = "gpu"
  cluster = google_container_cluster.main.name
  node_config {
    machine_type = "a3-highgpu-8g"
    image_type   = "COS_CONTAINERD"
    guest_accelerator {
      type  = "nvidia-h100-80gb"
      count = 8
      gpu_driver_installation_config {
        gpu_driver_version = "LATEST"
      }
    }
    labels = {
      "gke-no-default-nvidia-gpu-device-plugin" = "true"
    }
  }
}
