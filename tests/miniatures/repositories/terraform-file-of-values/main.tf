module "gpu" {
  source = "./modules/gpu"
  count  = var.gpu ? 1 : 0
}

variable "gpu" {
  type    = bool
  default = false
}
