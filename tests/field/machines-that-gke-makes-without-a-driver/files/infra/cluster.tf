resource "google_container_cluster" "main" {
  name     = "main"
  location = "europe-west4"
  cluster_autoscaling {
    enabled = true
    resource_limits {
      resource_type = "nvidia-l4"
      maximum       = 8
    }
  }
}
