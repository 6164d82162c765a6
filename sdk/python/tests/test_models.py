# Copyright 2026 The JobSet Authors.
# SPDX-License-Identifier: Apache-2.0

import copy
import dataclasses
import inspect
import json
import os
import unittest

from jobset import ValidationError, v1alpha2
from jobset.v1alpha2 import FailurePolicy, InPlaceRestartPolicy, JobSet, JobSetSpec, ReplicatedJob, WarmStartPolicy


def manifest():
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train"},
        "spec": {
            "failurePolicy": {"maxRestarts": 3, "rules": [{"name": "oom", "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]}]},
            "network": {"enableDNSHostnames": True},
            "replicatedJobs": [
                {"name": "driver", "template": {"spec": {"parallelism": 1}}},
                {"name": "workers", "replicas": 2, "template": {}, "dependsOn": [{"name": "driver", "status": "Ready"}]},
            ],
        },
        "status": {"restarts": 1, "conditions": [
            {"type": "Completed", "status": "True", "reason": "AllJobsCompleted", "message": "", "lastTransitionTime": "2026-01-31T12:00:00Z"},
        ]},
    }


class RoundTrip(unittest.TestCase):
    def test_a_manifest_stays_as_it_is(self):
        """P143: what is read is written as it was."""
        self.assertEqual(JobSet.from_dict(manifest()).to_dict(), manifest())

    def test_attributes_have_names_in_snake_case(self):
        spec = JobSet.from_dict(manifest()).spec
        self.assertEqual(spec.replicated_jobs[1].depends_on[0].status, "Ready")
        self.assertIs(spec.network.enable_dns_hostnames, True)
        self.assertEqual(spec.failure_policy.rules[0].on_job_failure_reasons, ["PodFailurePolicy"])
        self.assertIsNone(spec.replicated_jobs[0].replicas)

    def test_zero_false_and_empty_are_not_absent(self):
        """P143: an empty object can mean something else than an absent one."""
        written = {
            "suspend": False,
            "ttlSecondsAfterFinished": 0,
            "replicatedJobs": [],
            "failurePolicy": {"restartStrategy": "InPlaceRestart", "inPlaceRestart": {"warmStart": {}, "mode": "Process"}},
        }
        spec = JobSetSpec(
            suspend=False, ttl_seconds_after_finished=0, replicated_jobs=[],
            failure_policy=FailurePolicy(
                restart_strategy="InPlaceRestart", in_place_restart=InPlaceRestartPolicy(warm_start=WarmStartPolicy(), mode="Process")
            ),
        )
        self.assertEqual(spec.to_dict(), written)
        self.assertEqual(JobSetSpec.from_dict(written), spec)

    def test_null_is_absent(self):
        self.assertEqual(JobSetSpec.from_dict({"network": None}).to_dict(), {})

    def test_nothing_is_shared(self):
        """P143: a change of the result changes nothing of the source."""
        source = manifest()
        read = JobSet.from_dict(source)
        read.spec.replicated_jobs[0].template["spec"]["parallelism"] = 7
        read.metadata["name"] = "other"
        self.assertEqual(source, manifest())
        written = read.to_dict()
        written["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 8
        self.assertEqual(read.spec.replicated_jobs[0].template["spec"]["parallelism"], 7)

    def test_api_version_and_kind_are_filled_in(self):
        self.assertEqual(JobSet(metadata={"name": "x"}).to_dict(), {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "x"}})

    def test_every_example(self):
        """P143: the JobSets of all examples, which the Go test that runs this writes as JSON."""
        path = os.environ.get("JOBSET_EXAMPLES")
        if not path:
            self.skipTest("JOBSET_EXAMPLES is not set; run: go test ./sdk/python")
        with open(path, encoding="utf-8") as file:
            examples = json.load(file)
        self.assertGreater(len(examples), 40)
        for name, example in examples.items():
            with self.subTest(name):
                before = copy.deepcopy(example)
                self.assertEqual(JobSet.from_dict(example).to_dict(), before)
                self.assertEqual(example, before)


class BadInput(unittest.TestCase):
    """P144: an error names the path."""

    def refused(self, change, path, problem, **options):
        data = manifest()
        change(data)
        with self.assertRaises(ValidationError) as caught:
            JobSet.from_dict(data, **options)
        self.assertEqual((caught.exception.path, caught.exception.problem), (path, problem))
        self.assertEqual(str(caught.exception), f"{path}: {problem}")

    def test_unknown_field(self):
        self.refused(
            lambda d: d["spec"]["replicatedJobs"][1].update(replica=3), "spec.replicatedJobs[1].replica",
            "unknown field of ReplicatedJob, which has name, template, groupName, replicas, dependsOn, elastic",
        )

    def test_unknown_field_of_an_empty_object(self):
        self.refused(
            lambda d: d["spec"]["failurePolicy"].update(inPlaceRestart={"warmStart": {"x": 1}}),
            "spec.failurePolicy.inPlaceRestart.warmStart.x", "unknown field of WarmStartPolicy, which has none",
        )

    def test_snake_case_is_unknown(self):
        with self.assertRaisesRegex(ValidationError, r"^spec\.replicated_jobs: unknown field of JobSetSpec"):
            JobSet.from_dict({"spec": {"replicated_jobs": []}})

    def test_wrong_types(self):
        for change, path, problem in [
            (lambda d: d["spec"]["replicatedJobs"][0].update(replicas="2"), "spec.replicatedJobs[0].replicas", "is '2', must be an integer"),
            (lambda d: d["spec"]["replicatedJobs"][0].update(replicas=True), "spec.replicatedJobs[0].replicas", "is True, must be an integer"),
            (lambda d: d["spec"]["replicatedJobs"][0].update(replicas=2.0), "spec.replicatedJobs[0].replicas", "is 2.0, must be an integer"),
            (lambda d: d["spec"].update(suspend=1), "spec.suspend", "is 1, must be true or false"),
            (lambda d: d["spec"]["replicatedJobs"][1].update(name=7), "spec.replicatedJobs[1].name", "is 7, must be a string"),
            (lambda d: d["spec"]["replicatedJobs"][1].update(template="x"), "spec.replicatedJobs[1].template", "is 'x', must be an object"),
            (lambda d: d["spec"].update(replicatedJobs={}), "spec.replicatedJobs", "is {}, must be a list"),
            (lambda d: d["spec"].update(replicatedJobs=[None]), "spec.replicatedJobs[0]", "is None, must be an object"),
            (lambda d: d["spec"]["failurePolicy"]["rules"][0].update(onJobFailureReasons=["a", 1]),
             "spec.failurePolicy.rules[0].onJobFailureReasons[1]", "is 1, must be a string"),
            (lambda d: d.update(spec=[]), "spec", "is [], must be an object"),
            (lambda d: d["spec"].update(managedBy=["x" * 100]), "spec.managedBy", "is ['" + "x" * 55 + "..., must be a string"),
        ]:
            with self.subTest(path + " " + problem):
                self.refused(change, path, problem)

    def test_missing(self):
        self.refused(lambda d: d["spec"]["replicatedJobs"][1].pop("name"), "spec.replicatedJobs[1].name", "is required")

    def test_words(self):
        self.refused(lambda d: d["spec"]["failurePolicy"].update(restartStrategy="InPlace"), "spec.failurePolicy.restartStrategy",
                     "is 'InPlace', must be one of Recreate, BlockingRecreate, InPlaceRestart")
        self.refused(lambda d: d["spec"]["failurePolicy"].update(restartStrategy=1), "spec.failurePolicy.restartStrategy",
                     "is 1, must be one of Recreate, BlockingRecreate, InPlaceRestart", strict=False)

    def test_another_kind(self):
        self.refused(lambda d: d.update(kind="Job"), "kind", "is 'Job', must be one of JobSet", strict=False)

    def test_no_object(self):
        with self.assertRaisesRegex(ValidationError, "^is 'x', must be an object$"):
            JobSet.from_dict("x")

    def test_what_a_newer_server_says_can_be_read(self):
        """P144: with strict=False, unknown fields and words are no errors."""
        data = manifest()
        data["spec"]["shape"] = "round"
        data["spec"]["failurePolicy"]["restartStrategy"] = "Sometimes"
        spec = JobSet.from_dict(data, strict=False).spec
        self.assertEqual(spec.failure_policy.restart_strategy, "Sometimes")
        spec.failure_policy.restart_strategy = None
        self.assertNotIn("shape", spec.to_dict())

    def test_writing_is_checked_too(self):
        """P144: a mistake in a program is found before the server sees it."""
        for jobs, path, problem in [
            ([ReplicatedJob(name="w", template={}, replicas="2")], "spec.replicatedJobs[0].replicas", "is '2', must be an integer"),
            ([ReplicatedJob(name="w", template=None)], "spec.replicatedJobs[0].template", "is required"),
            ([{"name": "w"}], "spec.replicatedJobs[0]", "is {'name': 'w'}, must be of class ReplicatedJob"),
            (ReplicatedJob(name="w", template={}), "spec.replicatedJobs", "is ReplicatedJob(name='w', template={}, group_name=None, rep..., must be a list"),
        ]:
            with self.subTest(path):
                with self.assertRaises(ValidationError) as caught:
                    JobSet(spec=JobSetSpec(replicated_jobs=jobs)).to_dict()
                self.assertEqual((caught.exception.path, caught.exception.problem), (path, problem))


class Documentation(unittest.TestCase):
    def test_every_attribute_is_described(self):
        """P143: with its unit, its bounds and its default."""
        for name in v1alpha2.__all__:
            cls = getattr(v1alpha2, name)
            if dataclasses.is_dataclass(cls):
                for field in dataclasses.fields(cls):
                    self.assertIn(f"\n    {field.name}:\n", inspect.getdoc(cls), name)
        self.assertIn("Unit: seconds. From 1 to 300.", InPlaceRestartPolicy.__doc__)
        self.assertIn("Default: 1.", ReplicatedJob.__doc__)


if __name__ == "__main__":
    unittest.main()
