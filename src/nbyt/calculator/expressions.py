"""Compile expressions of Python to JavaScript that calls the runtime, with Python's meaning."""

import ast
import json

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitOr: "or",
    ast.BitAnd: "and",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
_COMPARE = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "isin",
    ast.NotIn: "notin",
    ast.Is: "is",
    ast.IsNot: "isnot",
}
# Words that JavaScript keeps for itself.
_RESERVED = frozenset(
    (
        *(
            "arguments",
            "await",
            "case",
            "catch",
            "const",
            "default",
            "delete",
            "do",
            "enum",
            "eval",
        ),
        *("eval", "export", "extends", "false", "function", "implements", "in", "instanceof"),
        *(
            "interface",
            "let",
            "modules",
            "new",
            "null",
            "package",
            "private",
            "protected",
            "public",
            "py",
        ),
        *("static", "super", "switch", "this", "throw", "true", "typeof", "undefined", "var"),
        *("void", "with", "yield"),
    )
)


class UnsupportedError(Exception):
    """The rules use a part of Python that the compiler does not know."""


def name_of(identifier: str) -> str:
    """Return a name that JavaScript allows."""
    return f"{identifier}_" if identifier in _RESERVED else identifier


class Expressions(ast.NodeVisitor):
    """Compiles expressions; `scopes` are the names that are known, the innermost last."""

    def __init__(self) -> None:
        self.scopes: list[set[str]] = []
        self.bases: list[str] = []

    def generic_visit(self, node: ast.AST) -> str:
        """Refuse what no other method compiles."""
        raise UnsupportedError(f"{type(node).__name__} at line {getattr(node, 'lineno', '?')}")

    def visit_Constant(self, node: ast.Constant) -> str:
        """Compile a literal: whole numbers become big integers, which a float never equals."""
        value = node.value
        if value is None or value is Ellipsis:
            return "null"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int):
            return f"{value}n"
        return json.dumps(value)

    def visit_Name(self, node: ast.Name) -> str:
        """Compile a name; one that is not known here is a function of Python's own."""
        if any(node.id in scope for scope in self.scopes):
            return name_of(node.id)
        return f"py.b.{node.id}"

    def visit_Attribute(self, node: ast.Attribute) -> str:
        """Compile an attribute that is read."""
        return f"py.attr({self.visit(node.value)}, {json.dumps(node.attr)})"

    def visit_Subscript(self, node: ast.Subscript) -> str:
        """Compile an item or a slice."""
        value = self.visit(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = (node.slice.lower, node.slice.upper)
            low, high = ("null" if end is None else self.visit(end) for end in ends)
            return f"py.slice({value}, {low}, {high})"
        return f"py.item({value}, {self.visit(node.slice)})"

    def visit_Tuple(self, node: ast.Tuple) -> str:
        """Compile a tuple, which is an array."""
        return self._array(node.elts)

    def visit_List(self, node: ast.List) -> str:
        """Compile a list."""
        return self._array(node.elts)

    def visit_Set(self, node: ast.Set) -> str:
        """Compile a set."""
        return f"py.b.set({self._array(node.elts)})"

    def visit_Dict(self, node: ast.Dict) -> str:
        """Compile a dictionary, with those that are spread into it."""
        rows = [
            f"[{self.visit(value)}]" if key is None else f"[{self.visit(key)}, {self.visit(value)}]"
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return f"py.dict([{', '.join(rows)}])"

    def visit_Starred(self, node: ast.Starred) -> str:
        """Compile what is spread into a list or a call."""
        return f"...py.iter({self.visit(node.value)})"

    def visit_JoinedStr(self, node: ast.JoinedStr) -> str:
        """Compile an f-string."""
        return f"[{', '.join(self.visit(part) for part in node.values)}].join('')"

    def visit_FormattedValue(self, node: ast.FormattedValue) -> str:
        """Compile a part of an f-string."""
        spec = "''" if node.format_spec is None else self.visit(node.format_spec)
        value = self.visit(node.value)
        return f"py.format({f'py.repr({value})' if node.conversion == 114 else value}, {spec})"

    def visit_BinOp(self, node: ast.BinOp) -> str:
        """Compile a calculation."""
        return f"py.{_BINARY[type(node.op)]}({self.visit(node.left)}, {self.visit(node.right)})"

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        """Compile a sign or a negation."""
        value = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return f"!py.truth({value})"
        return f"(-{value})" if isinstance(node.op, ast.USub) else value

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        """Compile `and` and `or`, which return the operand that decides."""
        name = "all_of" if isinstance(node.op, ast.And) else "any_of"
        return f"py.{name}({', '.join(f'() => {self._value(one)}' for one in node.values)})"

    def visit_Compare(self, node: ast.Compare) -> str:
        """Compile a comparison, also a chain of them."""
        left, parts = self.visit(node.left), []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            value = self.visit(right)
            parts.append(f"py.{_COMPARE[type(operator)]}({left}, {value})")
            left = value
        return f"({' && '.join(parts)})"

    def visit_IfExp(self, node: ast.IfExp) -> str:
        """Compile a conditional expression."""
        test, body, orelse = (self.visit(part) for part in (node.test, node.body, node.orelse))
        return f"(py.truth({test}) ? {body} : {orelse})"

    def visit_NamedExpr(self, node: ast.NamedExpr) -> str:
        """Compile an assignment within an expression."""
        return f"({name_of(node.target.id)} = {self.visit(node.value)})"

    def visit_Lambda(self, node: ast.Lambda) -> str:
        """Compile a function without a name."""
        names = [one.arg for one in node.args.args]
        self.scopes.append(set(names))
        body = self._value(node.body)
        self.scopes.pop()
        given = ", ".join(map(name_of, names))
        return f"py.fn({json.dumps(names)}, '', ({given}) => {body})"

    def visit_ListComp(self, node: ast.ListComp) -> str:
        """Compile a list that a loop fills."""
        return f"py.b.list({self._loop(node, node.elt)})"

    def visit_SetComp(self, node: ast.SetComp) -> str:
        """Compile a set that a loop fills."""
        return f"py.b.set({self._loop(node, node.elt)})"

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> str:
        """Compile a generator."""
        return self._loop(node, node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> str:
        """Compile a dictionary that a loop fills."""
        return f"py.b.dict({self._loop(node, ast.Tuple([node.key, node.value], ast.Load()))})"

    def visit_Call(self, node: ast.Call) -> str:
        """Compile a call of a function, a method or a class."""
        args = ", ".join(self.visit(one) for one in node.args)
        names = self._keywords(node.keywords)
        if isinstance(node.func, ast.Attribute):
            if self._is_super(node.func.value):
                name = json.dumps(node.func.attr)
                return f"py.super({self.bases[-1]}, {name}, self, [{args}], {names})"
            value, name = self.visit(node.func.value), json.dumps(node.func.attr)
            return f"py.method({value}, {name}, [{args}], {names})"
        function = self.visit(node.func)
        return (
            f"{function}({args})" if names == "null" else f"py.call({function}, [{args}], {names})"
        )

    def _keywords(self, keywords: list[ast.keyword]) -> str:
        rows = [
            f"[{self.visit(one.value)}]"
            if one.arg is None
            else f"[{json.dumps(one.arg)}, {self.visit(one.value)}]"
            for one in keywords
        ]
        return f"py.dict([{', '.join(rows)}])" if rows else "null"

    @staticmethod
    def _is_super(node: ast.expr) -> bool:
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return is_call and node.func.id == "super"  # type: ignore[attr-defined]

    def _array(self, elements: list[ast.expr]) -> str:
        return f"[{', '.join(self.visit(one) for one in elements)}]"

    def _value(self, node: ast.expr) -> str:
        """Compile the body of an arrow function, which must not begin with a brace."""
        return f"({self.visit(node)})"

    def _loop(self, node: ast.expr, element: ast.expr) -> str:
        """Compile the loops of a comprehension into a generator."""
        opened = ""
        for one in node.generators:  # type: ignore[attr-defined]
            source = self.visit(one.iter)
            self.scopes.append(names_in(one.target))
            opened += f"for (const {self.target(one.target)} of py.each({source})) "
            opened += "".join(f"if (py.truth({self.visit(test)})) " for test in one.ifs)
        body = f"{opened}yield {self.visit(element)};"
        del self.scopes[-len(node.generators) :]  # type: ignore[attr-defined]
        return f"py.gen(function* () {{ {body} }})"

    def target(self, node: ast.expr) -> str:
        """Compile what is assigned to: a name, or several in a pattern."""
        if isinstance(node, ast.Name):
            return name_of(node.id)
        if isinstance(node, ast.Starred):
            return f"...{self.target(node.value)}"
        if isinstance(node, ast.Tuple | ast.List):
            return f"[{', '.join(self.target(one) for one in node.elts)}]"
        raise UnsupportedError(f"assignment to {type(node).__name__} at line {node.lineno}")


def names_in(node: ast.AST) -> set[str]:
    """Return the names that an assignment target binds."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
