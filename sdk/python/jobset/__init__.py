# Copyright 2026 The JobSet Authors.
# SPDX-License-Identifier: Apache-2.0

"""Typed models of the JobSet API. The classes are in jobset.v1alpha2."""

from jobset._model import Model, ValidationError

__all__ = ["Model", "ValidationError"]
