"""Dense linear algebra and small numerical tools, for use inside other kernels."""
