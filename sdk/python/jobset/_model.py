# Copyright 2026 The JobSet Authors.
# SPDX-License-Identifier: Apache-2.0

"""What the generated dataclasses share: to and from the dictionaries that JSON, YAML and other clients use."""

import copy
import dataclasses
import functools
import typing


class ValidationError(ValueError):
    """A value does not fit the API.

    Attributes:
        path: where it is, such as ``spec.replicatedJobs[0].replicas``; empty for the object itself.
        problem: what is wrong, and what is expected.
    """

    def __init__(self, path, problem):
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


class Model:
    """A dataclass whose fields have the names of the API, in snake case.

    None stands for a field that is absent, in both directions.
    """

    # Names of the fields in the API, by attribute.
    _json_names: typing.ClassVar[typing.Dict[str, str]] = {}

    @classmethod
    def from_dict(cls, data, strict=True):
        """Returns the object of a dictionary, which is left as it is.

        Args:
            data: the object as JSON and YAML have it, with names such as ``replicatedJobs``.
            strict: refuse fields, and words of an enumeration, that this version of the API does not have. Without it,
                such fields are left out, so that objects of a newer server can be read; do not write these back with
                replace, which would remove the fields there.

        Raises:
            ValidationError: with the path of the first field that is unknown, missing, or of a wrong type.
        """
        return _read(cls, data, "", strict)

    def to_dict(self):
        """Returns the object as a dictionary of its own, with names such as ``replicatedJobs`` and without absent fields.

        Raises:
            ValidationError: with the path of the first field that is missing or has a wrong type.
        """
        return _write(type(self), self, "")


@functools.lru_cache(maxsize=None)
def _fields(cls):
    """Returns attribute, name in the API, type and whether it must be there, for all fields of a model."""
    hints = typing.get_type_hints(cls)
    fields = []
    for field in dataclasses.fields(cls):
        kind = hints[field.name]
        required = field.default is dataclasses.MISSING
        if typing.get_origin(kind) is typing.Union:  # Optional[kind]
            kind = typing.get_args(kind)[0]
        fields.append((field.name, cls._json_names[field.name], kind, required))
    return fields


def _is_model(kind):
    return isinstance(kind, type) and issubclass(kind, Model)


def _read(kind, value, path, strict):
    if _is_model(kind):
        return _read_model(kind, value, path, strict)
    if typing.get_origin(kind) is list:
        item = typing.get_args(kind)[0]
        return [_read(item, v, f"{path}[{i}]", strict) for i, v in enumerate(_checked(list, value, path))]
    return copy.deepcopy(_checked(kind, value, path, strict))


def _read_model(cls, data, path, strict):
    data = _checked(dict, data, path)
    values = {}
    for name, json_name, kind, required in _fields(cls):
        value = data.get(json_name)
        if value is not None:
            values[name] = _read(kind, value, _child(path, json_name), strict)
        elif required:
            raise ValidationError(_child(path, json_name), "is required")
    if strict:
        known = [json_name for _, json_name, _, _ in _fields(cls)]
        for key in data:
            if key not in known:
                raise ValidationError(_child(path, key), f"unknown field of {cls.__name__}, which has {', '.join(known) or 'none'}")
    return cls(**values)


def _write(kind, value, path):
    if _is_model(kind):
        if not isinstance(value, kind):
            raise ValidationError(path, f"is {_shown(value)}, must be of class {kind.__name__}")
        result = {}
        for name, json_name, field_kind, required in _fields(kind):
            field_value = getattr(value, name)
            if field_value is not None:
                result[json_name] = _write(field_kind, field_value, _child(path, json_name))
            elif required:
                raise ValidationError(_child(path, json_name), "is required")
        return result
    if typing.get_origin(kind) is list:
        item = typing.get_args(kind)[0]
        return [_write(item, v, f"{path}[{i}]") for i, v in enumerate(_checked(list, value, path))]
    return copy.deepcopy(_checked(kind, value, path))


_WORDS = {str: "a string", int: "an integer", bool: "true or false", list: "a list", dict: "an object"}


def _checked(kind, value, path, strict=True):
    """Returns the value if it is of a kind that JSON has, or one of the words of a Literal."""
    if typing.get_origin(kind) is typing.Literal:
        words = typing.get_args(kind)
        if value not in words and (strict or len(words) == 1 or not isinstance(value, str)):
            raise ValidationError(path, f"is {_shown(value)}, must be one of {', '.join(words)}")
        return value
    kind = typing.get_origin(kind) or kind
    # A bool is an int for Python, and not for the API.
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        raise ValidationError(path, f"is {_shown(value)}, must be {_WORDS[kind]}")
    return value


def _child(path, name):
    return f"{path}.{name}" if path else str(name)


def _shown(value):
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
