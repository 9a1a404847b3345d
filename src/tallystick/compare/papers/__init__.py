"""What reproduces the source of ``compare`` ([DD]_): its pictures, its rule and its bound."""
