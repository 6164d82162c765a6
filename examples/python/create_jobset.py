#!/usr/bin/env python3
# Copyright 2026 The JobSet Authors.
# SPDX-License-Identifier: Apache-2.0

"""Creates a JobSet with the Python client of Kubernetes and waits until it is finished.

It prints every change of the conditions, and exits with 0 if the JobSet completed, else with 1.

    python3 create_jobset.py --namespace default --name hello -- sh -c 'echo hello from $(hostname)'
"""

import argparse
import sys

from kubernetes import client, config, watch

from jobset.v1alpha2 import GROUP, PLURAL, VERSION, FailurePolicy, JobSet, JobSetSpec, ReplicatedJob


def new_jobset(name, image, command):
    """Two Jobs of two workers each, which may start over three times before the JobSet fails."""
    return JobSet(
        metadata={"name": name},
        spec=JobSetSpec(
            failure_policy=FailurePolicy(max_restarts=3),
            replicated_jobs=[ReplicatedJob(name="workers", replicas=2, template=job(2, image, command))],
        ),
    )


def job(pods, image, command):
    """The template of a Job, as batch/v1 has it."""
    return {
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "backoffLimit": 0,  # a failed Pod fails its Job, which is what the failure policy looks at
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "main", "image": image, "command": command}],
                }
            },
        }
    }


def follow(api, namespace, created):
    """Prints what changes, and returns whether the JobSet completed."""
    name, uid, known = created["metadata"]["name"], created["metadata"]["uid"], {}
    only = {"field_selector": "metadata.name=" + name}
    while True:
        # The server ends each watch after some minutes, and what happened since is in a new list.
        listed = api.list_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL, **only)
        current = [item for item in listed["items"] if item["metadata"]["uid"] == uid]
        if not current:
            sys.exit(f"error: JobSet {namespace}/{name} was deleted before it finished")
        completed = report(current[0], known)
        if completed is not None:
            return completed
        changes = watch.Watch().stream(
            api.list_namespaced_custom_object, GROUP, VERSION, namespace, PLURAL,
            resource_version=listed["metadata"]["resourceVersion"], timeout_seconds=300, **only,
        )
        try:
            for event in changes:
                if event["type"] == "DELETED":
                    break  # the list says whether it was ours
                completed = report(event["object"], known) if event["object"]["metadata"]["uid"] == uid else None
                if completed is not None:
                    return completed
        except client.ApiException as error:
            if error.status != 410:  # the server has forgotten this resourceVersion
                raise


def report(found, known):
    """Prints the conditions that changed. Returns True if the JobSet completed, False if it failed, None if it runs."""
    # The server may be newer than this program, hence strict=False.
    status = JobSet.from_dict(found, strict=False).status
    for condition in (status.conditions if status else None) or []:
        text = f"{condition.type}={condition.status} {condition.reason}: {condition.message}"
        if known.get(condition.type) != text:
            known[condition.type] = text
            print(text, flush=True)
        if condition.type in ("Completed", "Failed") and condition.status == "True":
            return condition.type == "Completed"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kubeconfig", help="path of a kubeconfig file; by default that of kubectl")
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--name", default="hello")
    parser.add_argument("--image", default="docker.io/library/busybox:1.37")
    parser.add_argument("command", nargs="*", default=["sh", "-c", "echo hello from $(hostname)"])
    args = parser.parse_args()

    config.load_kube_config(config_file=args.kubeconfig)
    api = client.CustomObjectsApi()
    # to_dict checks names and types, and an error says where: spec.replicatedJobs[0].replicas: is '2', must be an integer
    body = new_jobset(args.name, args.image, args.command).to_dict()
    try:
        created = api.create_namespaced_custom_object(GROUP, VERSION, args.namespace, PLURAL, body)
    except client.ApiException as error:
        sys.exit(f"error: creating JobSet {args.namespace}/{args.name}: {error.body or error}")
    print(f"JobSet {args.namespace}/{args.name} created", flush=True)
    if not follow(api, args.namespace, created):
        sys.exit("error: the JobSet failed")


if __name__ == "__main__":
    main()
