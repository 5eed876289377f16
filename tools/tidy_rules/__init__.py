"""The rules of tools/tidy, one module for each kind. A rule is a function that takes a Tree and
yields Findings; a module's RULES names them. Each has a test in tests/house that breaks it."""
