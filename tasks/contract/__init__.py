"""The seam: messages and pure rules that the control plane and the data plane both import."""
