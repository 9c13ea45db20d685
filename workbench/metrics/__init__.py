"""Text metrics that complement pass@k, and the paper's analysis; extra packages are imported on first use."""
