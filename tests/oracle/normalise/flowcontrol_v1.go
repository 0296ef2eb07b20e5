package main

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

func init() { groups = append(groups, flowcontrolv1.AddToScheme) }
