package main

import resourcev1 "k8s.io/api/resource/v1"

func init() { groups = append(groups, resourcev1.AddToScheme) }
