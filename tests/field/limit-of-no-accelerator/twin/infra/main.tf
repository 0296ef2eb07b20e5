resource "google_container_cluster" "main" {
  name     = "main"
  location = "europe-west4"
  cluster_autoscaling {
    enabled = true
    resource_limits {
      resource_type = "cpu"
      maximum       = 64
    }
    resource_limits {
      resource_type = "memory"
      maximum       = 900
    }
    resource_limits {
      resource_type = "nvidia-l4"
      maximum       = 4
    }
  }
}
