/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// isKnown reports whether this version knows all fields of a JobSet. Of one that a later version wrote, what seems equal may differ.
func isKnown(raw []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(&jobset.JobSet{}) == nil
}

// keepForm makes an update store lists that mean what they meant before as they were stored (W20a). Creation stores empty objects
// that the manifest lacks, and "1" where it has 1: without this, each second apply would be a new generation, and kubectl diff
// would show these.
func keepForm(js, old *jobset.JobSet, req admission.Request, response admission.Response) admission.Response {
	var is, was struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if !response.Allowed || json.Unmarshal(req.Object.Raw, &is) != nil || json.Unmarshal(req.OldObject.Raw, &was) != nil {
		return response
	}
	for _, list := range []struct {
		name  string
		equal bool
	}{
		{"replicatedJobs", apiequality.Semantic.DeepEqual(js.Spec.ReplicatedJobs, old.Spec.ReplicatedJobs)},
		{"volumeClaimPolicies", apiequality.Semantic.DeepEqual(js.Spec.VolumeClaimPolicies, old.Spec.VolumeClaimPolicies)},
	} {
		stored, path := was.Spec[list.name], "/spec/"+list.name
		if !list.equal || stored == nil || !isKnown(req.Object.Raw) {
			continue
		}
		response.Patches = slices.DeleteFunc(response.Patches, func(o jsonpatch.Operation) bool {
			return o.Path == path || strings.HasPrefix(o.Path, path+"/")
		})
		if !bytes.Equal(is.Spec[list.name], stored) {
			response.Patches = append(response.Patches, jsonpatch.NewOperation("add", path, stored))
		}
	}
	if kind := admissionv1.PatchTypeJSONPatch; len(response.Patches) > 0 {
		response.PatchType = &kind
	} else {
		response.PatchType = nil
	}
	return response
}
