"""Compile modules, classes and functions of Python to JavaScript."""

import ast
import json
from collections.abc import Iterable, Sequence

from nbyt.calculator.expressions import Expressions, UnsupportedError, name_of, names_in

_GETTERS = ("property", "cached_property")


class Compiler(Expressions):
    """Compiles a module: a function that fills an object with the module's names."""

    def module(self, name: str, tree: ast.Module, only: Sequence[str] = ()) -> str:
        """Compile a module, or only those of its definitions."""
        body = [one for one in tree.body if not only or _defines(one) & set(only)]
        names = {name for one in body for name in _defines(one)}
        self.scopes.append(names)
        lines = [self.visit(one) for one in body]
        self.scopes.pop()
        listed = ", ".join(sorted(map(name_of, names)))
        exports = ", ".join(f"{json.dumps(one)}: {name_of(one)}" for one in sorted(names))
        declared = f"let {listed};\n" if listed else ""
        code = "".join(lines)
        return (
            f"py.module({json.dumps(name)}, () => {{\n{declared}{code}return {{{exports}}};\n}});\n"
        )

    def visit_Import(self, node: ast.Import) -> str:
        """Compile `import x`."""
        return "".join(
            f"{name_of(one.asname or one.name)} = py.modules[{json.dumps(one.name)}];\n"
            for one in node.names
        )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> str:
        """Compile `from x import y`, where y may be a module."""
        return "".join(
            f"{name_of(one.asname or one.name)} = "
            f"py.imported({json.dumps(node.module)}, {json.dumps(one.name)});\n"
            for one in node.names
        )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> str:
        """Compile a function with a name."""
        made = self._function(node, node.args.args)
        cached = any(_named(one) == "cache" for one in node.decorator_list)
        return f"{name_of(node.name)} = {f'py.cache({made})' if cached else made};\n"

    def _function(self, node: ast.FunctionDef, positional: list[ast.arg]) -> str:
        given = node.args
        every = [*given.posonlyargs, *positional, *given.kwonlyargs]
        names = [one.arg for one in every]
        ends = [one for one in (given.vararg, given.kwarg) if one]
        known = {*names, *(one.arg for one in ends)}
        inner = bound(node.body) - known
        self.scopes.append({*known, *inner, "self"})
        declared = f"let {', '.join(sorted(map(name_of, inner)))};\n" if inner else ""
        words = [f"{name_of(name)}{self._default(node, name)}" for name in names]
        words += [f"{'...' if one is given.vararg else ''}{name_of(one.arg)}" for one in ends]
        body = self.block(node.body)
        self.scopes.pop()
        star = "" if given.kwarg is None else given.kwarg.arg
        head = f"py.fn({json.dumps(names)}, {json.dumps(star)}, function"
        return (
            f"{head} ({', '.join(words)}) {{ const self = this;\n{declared}{body}return null; }})"
        )

    def _default(self, node: ast.FunctionDef, name: str) -> str:
        given = node.args
        late = [*given.posonlyargs, *given.args]
        pairs = list(zip(late[len(late) - len(given.defaults) :], given.defaults, strict=True))
        pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
        return next((f" = {self.visit(value)}" for one, value in pairs if one.arg == name), "")

    def visit_ClassDef(self, node: ast.ClassDef) -> str:
        """Compile a class: its fields, methods, properties and constants."""
        base = self.visit(node.bases[0]) if node.bases else "null"
        self.bases.append(base)
        fields, members = [], []
        for one in node.body:
            if isinstance(one, ast.AnnAssign):
                fields.append(f"[{json.dumps(names_in(one.target).pop())}, {self._field(one)}]")
            elif isinstance(one, ast.Assign):
                name = json.dumps(names_in(one.targets[0]).pop())
                members.append(f"['value', {name}, {self.visit(one.value)}]")
            elif isinstance(one, ast.FunctionDef):
                members.append(self._member(one))
            elif not _is_docstring(one) and not isinstance(one, ast.Pass):
                raise UnsupportedError(f"{type(one).__name__} in class {node.name}")
        self.bases.pop()
        rows = f"[{', '.join(fields)}], [{', '.join(members)}]"
        return f"{name_of(node.name)} = py.cls({json.dumps(node.name)}, {base}, {rows});\n"

    def _field(self, node: ast.AnnAssign) -> str:
        value = node.value
        if value is None:
            return "null"
        if isinstance(value, ast.Call) and _named(value.func) == "field":
            named = {one.arg: one.value for one in value.keywords}
            if "default_factory" in named:
                return f"() => {self.visit(named['default_factory'])}()"
            return f"() => {self.visit(named['default'])}"
        return f"() => ({self.visit(value)})"

    def _member(self, node: ast.FunctionDef) -> str:
        decorators = [_named(one) for one in node.decorator_list]
        kind = "get" if any(one in _GETTERS for one in decorators) else "method"
        is_static = "staticmethod" in decorators
        positional = node.args.args if is_static else node.args.args[1:]
        return f"['{kind}', {json.dumps(node.name)}, {self._function(node, positional)}]"

    def block(self, body: Iterable[ast.stmt]) -> str:
        """Compile statements, one after the other."""
        return "".join(self.visit(one) for one in body)

    def visit_Return(self, node: ast.Return) -> str:
        """Compile `return`."""
        return f"return {'null' if node.value is None else self.visit(node.value)};\n"

    def visit_Expr(self, node: ast.Expr) -> str:
        """Compile an expression as a statement; docstrings are left out."""
        return "" if _is_docstring(node) else f"{self.visit(node.value)};\n"

    def visit_Assign(self, node: ast.Assign) -> str:
        """Compile an assignment."""
        lines = [f"{self._assigned(one, self.visit(node.value))};\n" for one in node.targets]
        return "".join(lines)

    def _assigned(self, target: ast.expr, value: str) -> str:
        if isinstance(target, ast.Subscript):
            place = f"{self.visit(target.value)}, {self.visit(target.slice)}"
            return f"py.setitem({place}, {value})"
        if isinstance(target, ast.Attribute):
            return f"{self.visit(target.value)}.{target.attr} = {value}"
        if isinstance(target, ast.Tuple) and not all(isinstance(t, ast.Name) for t in target.elts):
            return self._unpacked(target, value)
        pattern = isinstance(target, ast.Tuple | ast.List)
        return f"{self.target(target)} = {f'py.iter({value})' if pattern else value}"

    def _unpacked(self, target: ast.Tuple, value: str) -> str:
        """Compile an assignment to several places, some of which are items or attributes."""
        if any(isinstance(one, ast.Starred) for one in target.elts):
            return f"{self.target(target)} = py.iter({value})"
        parts = [self._assigned(one, f"py.part[{at}]") for at, one in enumerate(target.elts)]
        return f"py.part = [...py.iter({value})]; {'; '.join(parts)}"

    def visit_AnnAssign(self, node: ast.AnnAssign) -> str:
        """Compile an assignment with a type."""
        return (
            ""
            if node.value is None
            else f"{self._assigned(node.target, self.visit(node.value))};\n"
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> str:
        """Compile `+=` and the like; a dictionary is changed where it is."""
        operator = "update" if isinstance(node.op, ast.BitOr) else "add"
        if not isinstance(node.op, ast.BitOr | ast.Add):
            raise UnsupportedError(f"{type(node.op).__name__}= at line {node.lineno}")
        value = f"py.{operator}({self.visit(node.target)}, {self.visit(node.value)})"
        return f"{self._assigned(node.target, value)};\n"

    def visit_If(self, node: ast.If) -> str:
        """Compile `if` with its branches."""
        other = f" else {{\n{self.block(node.orelse)}}}" if node.orelse else ""
        return f"if (py.truth({self.visit(node.test)})) {{\n{self.block(node.body)}}}{other}\n"

    def visit_For(self, node: ast.For) -> str:
        """Compile `for`."""
        head = f"for ({self.target(node.target)} of py.each({self.visit(node.iter)}))"
        return f"{head} {{\n{self.block(node.body)}}}\n"

    def visit_While(self, node: ast.While) -> str:
        """Compile `while`."""
        return f"while (py.truth({self.visit(node.test)})) {{\n{self.block(node.body)}}}\n"

    def visit_Raise(self, node: ast.Raise) -> str:
        """Compile `raise`."""
        return f"throw {self.visit(node.exc)};\n" if node.exc else "throw error;\n"

    def visit_Try(self, node: ast.Try) -> str:
        """Compile `try` with handlers."""
        if node.finalbody or node.orelse:
            raise UnsupportedError(f"finally or else of try at line {node.lineno}")
        code = "throw error;\n"
        for one in reversed(node.handlers):
            kind = "py.b.Exception" if one.type is None else self.visit(one.type)
            named = f"{name_of(one.name)} = error;\n" if one.name else ""
            body = f"{named}{self.block(one.body)}"
            code = f"if (py.b.isinstance(error, {kind})) {{\n{body}}} else {{ {code} }}\n"
        return f"try {{\n{self.block(node.body)}}} catch (error) {{\n{code}}}\n"

    def visit_Assert(self, node: ast.Assert) -> str:
        """Leave assertions out: they are for our own bugs."""
        return ""

    def visit_Delete(self, node: ast.Delete) -> str:
        """Compile `del` of an item."""
        return "".join(
            f"py.method({self.visit(one.value)}, 'pop', [{self.visit(one.slice)}], null);\n"
            for one in node.targets
            if isinstance(one, ast.Subscript)
        )

    def visit_Pass(self, node: ast.Pass) -> str:
        """Compile `pass`."""
        return ""

    def visit_Continue(self, node: ast.Continue) -> str:
        """Compile `continue`."""
        return "continue;\n"

    def visit_Break(self, node: ast.Break) -> str:
        """Compile `break`."""
        return "break;\n"


def bound(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind, without those of functions within them."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            found.add(statement.name)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                found |= {name for target in node.targets for name in _bound_by(target)}
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.NamedExpr):
                found |= _bound_by(node.target)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found.add(node.name)
    return found


def _bound_by(target: ast.expr) -> set[str]:
    if isinstance(target, ast.Subscript | ast.Attribute):
        return set()
    if isinstance(target, ast.Tuple | ast.List):
        return {name for one in target.elts for name in _bound_by(one)}
    return names_in(target)


def _defines(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {one.asname or one.name for one in statement.names}
    return bound([statement])


def _named(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _named(node.func)
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
