"""What the five sources define and prove, as plain functions at their equations: noisy_judges,
detecting_differences, api_shifts, frechet_bounds, dynamic_benchmarks.
"""
