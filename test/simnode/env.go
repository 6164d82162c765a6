/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// resolveEnv returns the environment of a container: the base first, then what the container says, the last value of a
// name wins. Sources other than literal values and the downward API of fields are refused, never left empty.
func resolveEnv(pod *corev1.Pod, c *corev1.Container, base []corev1.EnvVar, podIP, hostIP string) ([]corev1.EnvVar, error) {
	if len(c.EnvFrom) > 0 {
		return nil, fmt.Errorf("container %s: envFrom is not supported by this simulated node", c.Name)
	}
	var out []corev1.EnvVar
	index := map[string]int{}
	set := func(name, value string) {
		if i, ok := index[name]; ok {
			out[i].Value = value
			return
		}
		index[name] = len(out)
		out = append(out, corev1.EnvVar{Name: name, Value: value})
	}
	for _, e := range base {
		set(e.Name, e.Value)
	}
	for i := range c.Env {
		e := &c.Env[i]
		switch {
		case e.ValueFrom == nil:
			set(e.Name, expand(e.Value, out))
		case e.ValueFrom.FieldRef != nil:
			value, err := fieldValue(pod, e.ValueFrom.FieldRef.FieldPath, podIP, hostIP)
			if err != nil {
				return nil, fmt.Errorf("container %s: env %s: %w", c.Name, e.Name, err)
			}
			set(e.Name, value)
		default:
			return nil, fmt.Errorf("container %s: env %s: only value and valueFrom.fieldRef are supported by this simulated node", c.Name, e.Name)
		}
	}
	return out, nil
}

func fieldValue(pod *corev1.Pod, path, podIP, hostIP string) (string, error) {
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return podIP, nil
	case "status.hostIP", "status.hostIPs":
		return hostIP, nil
	}
	if key, ok := subscript(path, "metadata.labels"); ok {
		return pod.Labels[key], nil
	}
	if key, ok := subscript(path, "metadata.annotations"); ok {
		return pod.Annotations[key], nil
	}
	return "", fmt.Errorf("field %q is not supported by this simulated node", path)
}

func subscript(path, field string) (string, bool) {
	rest, ok := strings.CutPrefix(path, field+"['")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "']")
}

// expand replaces $(NAME) by its value in env. $$ stands for a dollar sign, and references to unknown names stay as they are.
func expand(s string, env []corev1.EnvVar) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s, ')')
		switch {
		case s[1] == '$':
			b.WriteByte('$')
			s = s[2:]
		case s[1] == '(' && end > 0:
			if value, ok := lookupEnv(env, s[2:end]); ok {
				b.WriteString(value)
			} else {
				b.WriteString(s[:end+1])
			}
			s = s[end+1:]
		default:
			b.WriteByte('$')
			s = s[1:]
		}
	}
}

func expandAll(list []string, env []corev1.EnvVar) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i := range list {
		out[i] = expand(list[i], env)
	}
	return out
}

// lookupEnv is like os.LookupEnv.
func lookupEnv(env []corev1.EnvVar, name string) (string, bool) {
	for i := range env {
		if env[i].Name == name {
			return env[i].Value, true
		}
	}
	return "", false
}
