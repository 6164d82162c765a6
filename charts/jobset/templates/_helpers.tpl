{{/* Names. A release "jobset" has fullname "jobset". */}}

{{- define "jobset.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "jobset.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Takes a list of the root context and a suffix. Names of Services are limited to 63 characters, so the first part is truncated. */}}
{{- define "jobset.named" -}}
{{- $suffix := index . 1 -}}
{{- printf "%s-%s" (include "jobset.fullname" (index . 0) | trunc (int (sub 62 (len $suffix))) | trimSuffix "-") $suffix -}}
{{- end -}}

{{- define "jobset.controller.name" -}}{{ include "jobset.named" (list . "controller") }}{{- end -}}
{{- define "jobset.controller.configName" -}}{{ include "jobset.named" (list . "controller-config") }}{{- end -}}
{{- define "jobset.webhook.serviceName" -}}{{ include "jobset.named" (list . "webhook-service") }}{{- end -}}
{{- define "jobset.webhook.secretName" -}}{{ include "jobset.named" (list . "webhook-server-cert") }}{{- end -}}
{{- define "jobset.metrics.serviceName" -}}{{ include "jobset.named" (list . "metrics-service") }}{{- end -}}
{{- define "jobset.metrics.secretName" -}}{{ include "jobset.named" (list . "metrics-server-cert") }}{{- end -}}
{{- define "jobset.certName" -}}{{ include "jobset.named" (list . "cert") }}{{- end -}}

{{/* Labels. */}}

{{- define "jobset.selectorLabels" -}}
app.kubernetes.io/name: {{ include "jobset.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "jobset.controller.selectorLabels" -}}
{{ include "jobset.selectorLabels" . }}
app.kubernetes.io/component: controller
{{- end -}}

{{/* commonLabels never override labels of the chart, because selectors use some of them. */}}
{{- define "jobset.labels" -}}
{{- $own := dict
    "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
    "app.kubernetes.io/name" (include "jobset.name" .)
    "app.kubernetes.io/instance" .Release.Name
    "app.kubernetes.io/version" (.Chart.AppVersion | replace "+" "_")
    "app.kubernetes.io/managed-by" .Release.Service -}}
{{- toYaml (merge $own (omit (.Values.commonLabels | default dict) "app.kubernetes.io/component")) -}}
{{- end -}}

{{- define "jobset.controller.labels" -}}
{{ include "jobset.labels" . }}
app.kubernetes.io/component: controller
{{- end -}}

{{/* Ports. */}}

{{/* Empty if there is no metrics server. */}}
{{- define "jobset.metrics.port" -}}
{{- if ne .Values.metrics.bindAddress "0" -}}
{{- regexFind "[0-9]+$" .Values.metrics.bindAddress -}}
{{- end -}}
{{- end -}}

{{/* The agent is released with the manager: same repository, same tag. */}}
{{- define "jobset.agent.image" -}}
{{- printf "%s:%s" (regexReplaceAll "[^/]+$" .Values.image.repository "agent") (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}

{{/* The settings of a block that are not empty, in YAML. 0 and false are not empty. */}}
{{- define "jobset.settings" -}}
{{- $settings := dict -}}
{{- range $name, $value := . -}}
{{- if not (has (toJson $value) (list "null" "\"\"" "[]")) -}}
{{- $_ := set $settings $name $value -}}
{{- end -}}
{{- end -}}
{{- with $settings }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* The Configuration of the manager. It sets only what the values set. */}}
{{- define "jobset.controller.config" -}}
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
release: {{ regexFind "^v[0-9]+[.][0-9]+" .Chart.AppVersion }}
webhook:
  port: {{ .Values.webhook.port | int64 }}
  {{- with .Values.webhook.clientCAFile }}
  clientCAFile: {{ . | quote }}
  {{- end }}
metrics:
  bindAddress: {{ .Values.metrics.bindAddress | quote }}
  {{- if .Values.certManager.enable }}
  certDir: /tmp/k8s-metrics-server/serving-certs
  {{- end }}
leaderElection:
  leaderElect: {{ .Values.controller.leaderElection.enable }}
internalCertManagement:
  enable: {{ not .Values.certManager.enable }}
  {{- if not .Values.certManager.enable }}
  webhookServiceName: {{ include "jobset.webhook.serviceName" . }}
  webhookSecretName: {{ include "jobset.webhook.secretName" . }}
  {{- end }}
clientConnection:
  qps: {{ .Values.controller.clientConnection.qps | toJson }}
  burst: {{ .Values.controller.clientConnection.burst | int64 }}
{{- with .Values.controller.maxConcurrentReconciles }}
controller:
  maxConcurrentReconciles: {{ . | int64 }}
{{- end }}
{{- with .Values.controller.inPlaceRestart }}
inPlaceRestart:
  agentImage: {{ .agentImage | default (include "jobset.agent.image" $) | quote }}
  {{- with .agentResources }}
  agentResources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .environment }}
  environment: {{ . }}
  {{- end }}
  {{- with .reports }}
  reports: {{ . }}
  {{- end }}
  {{- with .leaseReportsFrom }}
  leaseReportsFrom: {{ . | int64 }}
  {{- end }}
  {{- with .progress }}
  progress:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if not .createAccess }}
  createAccess: false
  {{- end }}
  {{- with .assemblyGracePeriod }}
  assemblyGracePeriod: {{ . }}
  {{- end }}
  {{- with .preparationGracePeriod }}
  preparationGracePeriod: {{ . }}
  {{- end }}
  {{- with .forcefulDeletionGracePeriod }}
  forcefulDeletionGracePeriod: {{ . }}
  {{- end }}
  {{- with .notReadyGracePeriod }}
  notReadyGracePeriod: {{ . }}
  {{- end }}
  {{- with .quickFailureMaxPause }}
  quickFailureMaxPause: {{ . }}
  {{- end }}
{{- end }}
{{- range $block := list "faultTolerance" "elasticAutoscaling" }}
{{- with include "jobset.settings" (index $.Values.controller $block) }}
{{ $block }}:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.controller.nodeHealth }}
nodeHealth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.controller.tls }}
{{- if or .minVersion .cipherSuites }}
tls:
  {{- with .minVersion }}
  minVersion: {{ . }}
  {{- end }}
  {{- with .cipherSuites }}
  cipherSuites:
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .Values.controller.featureGates }}
featureGates:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* What stands in front of the paths of runbooks. */ -}}
{{- define "jobset.runbookBase" -}}
{{- with .Values.prometheus.runbookBase }}{{ trimSuffix "/" . }}/{{ end }}
{{- end -}}
