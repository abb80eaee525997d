"""The JSON Schemas of what `cairn` prints (schemas/), as tests use them: what is wrong with an output, and which members
that are described were never seen in one.

An output names its schema: "cairn.gpu.values/1" is cairn-gpu-values.schema.json.

The files let an object have further members, as a later Cairn may give it. Here they do not: what is printed is described.
"""
import json
import pathlib
import re

import jsonschema

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "schemas"
ENDING = ".schema.json"
BRANCHES = "anyOf"


def name_of(output):
    """Of the schema that an output names; "" if it names none."""
    named = output.get("schema") if isinstance(output, dict) else None
    return named.partition("/")[0].replace(".", "-") if isinstance(named, str) else ""


class Schemas:
    """All files of the folder as one schema, in which they refer to each other by where they stand in it: so nothing is
    fetched, and every version of jsonschema reads it."""

    def __init__(self, folder=FOLDER):
        self.files = {path.name.removesuffix(ENDING): json.loads(path.read_text(encoding="utf-8"))
                      for path in sorted(folder.glob("*" + ENDING))}
        self.all = {"$defs": {name: self._placed(file, name) for name, file in self.files.items()}}
        self.validator = jsonschema.Draft202012Validator(self.all)
        self.seen = set()
        self.fitting = set()  # lines, but for what numbers they have

    def _placed(self, node, name):
        """Without what tells a file from another, and with references from the top."""
        if isinstance(node, list):
            return [self._placed(each, name) for each in node]
        if not isinstance(node, dict):
            return node
        placed = {key: self._placed(value, name) for key, value in node.items() if key not in ("$id", "$schema")}
        if "properties" in node:
            placed.setdefault("additionalProperties", False)
        if isinstance(node.get("$ref"), str):
            file, _, place = node["$ref"].partition("#")
            placed["$ref"] = f"#/$defs/{file.removesuffix(ENDING) or name}{place}"
        return placed

    def faults_of_files(self):
        """What is wrong with the schemas themselves, a line each."""
        for name, file in self.files.items():
            try:
                jsonschema.Draft202012Validator.check_schema(file)
            except jsonschema.SchemaError as error:
                yield f"{name}: {error.json_path}: {error.message}"
                continue
            if file.get("$id") != name + ENDING:
                yield f"{name}: $id is {file.get('$id')!r}, and not the name of the file"
            if '"additionalProperties": false' in json.dumps(file):
                yield f"{name}: additionalProperties is false: what a later Cairn adds would not fit"
            for member in ("$schema", "title", "description"):
                if not file.get(member):
                    yield f"{name}: no {member}"
        for path, node in self._nodes(self.all, ()):
            where = "/".join(path)
            if "$ref" in node and self._at(node["$ref"]) is None:
                yield f"{where}: nothing is at {node['$ref']}"
            if "properties" in node and node["additionalProperties"] is not False:
                yield f"{where}: other members than its properties are described, which later members would have to fit"
            for member, one in node.get("properties", {}).items():
                if not one.get("description"):
                    yield f"{where}: no description of {member}"
            unknown = set(node.get("required", ())) - set(node.get("properties", ()))
            if unknown:
                yield f"{where}: required and not described: {', '.join(sorted(unknown))}"

    def _nodes(self, node, path):
        """Every schema in there, with where it stands."""
        if isinstance(node, dict):
            yield path, node
            for key in ("$defs", "properties"):
                for name, one in node.get(key, {}).items():
                    yield from self._nodes(one, (*path, name))
            for key in ("items", "additionalProperties", "propertyNames"):
                yield from self._nodes(node.get(key), path)
            for one in node.get(BRANCHES, ()):
                yield from self._nodes(one, path)

    def _at(self, reference):
        node = self.all
        for step in reference.removeprefix("#/").split("/"):
            node = node.get(step) if isinstance(node, dict) else None
        return node

    def fault_of(self, output, name=None):
        """The first thing that is wrong with an output, as "path: what"; None: nothing is, and its members are seen.
        `name`: of the schema, where the output is a line behind that which names it."""
        name = name or name_of(output)
        if name not in self.files:
            return f"$.schema: there is no schema {name}{ENDING}" if name else "$.schema: it names no schema"
        top = {"$ref": f"#/$defs/{name}"}
        errors = list(self._validator(top).iter_errors(output))
        if errors:
            error = self._nearest(errors)
            return f"{error.json_path}: {error.message[:300]}"
        self._see(top, output, (name,))
        return None

    def faults_of_lines(self, text):
        """The same of lines of JSON, the first of which names the schema; with the line's number before it. A line that
        differs from an earlier one in nothing but numbers fits as that does."""
        name = None
        for number, line in enumerate(text.splitlines(), 1):
            name = name or name_of(json.loads(line))
            like = (name, re.sub("[1-9][0-9]*", "1", line))
            if like in self.fitting:
                continue
            fault = self.fault_of(json.loads(line), name)
            if fault:
                yield f"line {number}: {fault}"
            else:
                self.fitting.add(like)

    def _validator(self, schema):
        return self.validator.evolve(schema=schema)

    def _nearest(self, errors):
        """Of errors the first; of branches none of which fits, that of the one that fits best."""
        error = errors[0]
        if not error.context:
            return error
        branches = {}
        for each in error.context:
            branches.setdefault(each.schema_path[0], []).append(each)
        best = min(branches.values(), key=lambda some: (any(self._is_other_kind(one, error) for one in some), len(some)))
        return self._nearest(best)

    @staticmethod
    def _is_other_kind(error, above):
        return error.validator == "type" and error.absolute_path == above.absolute_path

    def _see(self, schema, value, path):
        """Notes which members `value`, which fits, has."""
        if "$ref" in schema:
            target = self._at(schema["$ref"])
            return self._see(target, value, tuple(schema["$ref"].split("/")[2:]))
        for number, branch in enumerate(schema.get(BRANCHES, ())):
            if self._may_fit(branch, value) and self._validator(branch).is_valid(value):
                self._see(branch, value, (*path, number))
                break
        if isinstance(value, list) and "items" in schema:
            for each in value:
                self._see(schema["items"], each, (*path, "items"))
        if not isinstance(value, dict):
            return None
        described = schema.get("properties", {})
        others = schema.get("additionalProperties")
        for name, one in value.items():
            if name in described:
                self.seen.add((*path, name))
                self._see(described[name], one, (*path, name))
            elif isinstance(others, dict):
                self._see(others, one, (*path, "additionalProperties"))
        return None

    def _may_fit(self, branch, value):
        """A quick look, as most branches are of other members, or of no object."""
        while "$ref" in branch:
            branch = self._at(branch["$ref"])
        if "properties" not in branch:
            return True
        return isinstance(value, dict) and value.keys() <= branch["properties"].keys() and \
            all(name in value for name in branch.get("required", ()))

    def unseen(self):
        """Members that no output had so far, as "schema: path"."""
        def described(schema, path):
            for number, branch in enumerate(schema.get(BRANCHES, ())):
                yield from described(branch, (*path, number))
            for key in ("items", "additionalProperties"):
                if isinstance(schema.get(key), dict):
                    yield from described(schema[key], (*path, key))
            for name, one in schema.get("properties", {}).items():
                yield (*path, name)
                yield from described(one, (*path, name))
            for name, one in schema.get("$defs", {}).items():
                yield from described(one, (*path, "$defs", name))

        for name, file in self.all["$defs"].items():
            for path in described(file, (name,)):
                if path not in self.seen:
                    yield f"{name}: {'.'.join(str(step) for step in path[1:] if step not in ('items', '$defs'))}"
