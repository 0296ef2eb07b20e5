"""Rules over the charts that a repository installs: their versions, and what a chart alone does not do."""
