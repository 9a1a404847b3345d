"""What is collected: modules that need an extra are left out where it is not installed.

Everything else must import. Errors of import are never ignored: a test that cannot be imported would
count as passed.
"""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["*/tallystick/verbs/dynamic/deep.py"]
