"""define(): declares a repository unless the workspace already has it."""

def define(rule, name, **kwargs):
    """Declares the repository `name`. An earlier definition wins.

    So a workspace that imports this one brings its own version of a library by
    declaring it before it calls zyfa_deps().
    """
    if not native.existing_rule(name):
        rule(name = name, **kwargs)
