"""Rules over the GPU setup of one cluster: nodes, values and objects together, generated or written by hand."""
