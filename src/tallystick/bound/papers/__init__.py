"""What exists to reproduce the source: the paper's experiments with weak labels."""
