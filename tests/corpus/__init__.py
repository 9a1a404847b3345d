"""The answers of some 450 commands and calls, kept, so that a change shows which of them it moves.

``python -m tests.corpus write`` keeps the present answers, ``python -m tests.corpus diff`` prints
what differs from the kept ones. A pair is a table or source, and the command or call that is put to
it. It uses the command line, the verbs as functions and the service's HTTP, and nothing inside.
"""
