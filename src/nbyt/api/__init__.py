"""The functions of `import nbyt`: commands of the same name, with their options as arguments.

`nbyt.api.questions` answers from settings alone and needs no JAX; `nbyt.api.work` trains and
measures; `nbyt.api.stored` reads what an earlier call or command has kept.
"""
