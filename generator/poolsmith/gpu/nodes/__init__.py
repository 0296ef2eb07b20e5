"""A node as labels, the kubelet, files of provisioners and profiles say it: one record, its readers, one comparison."""
