"""The pages of the service: templates, one stylesheet, one script, and nothing from elsewhere."""
