{{- /* Objects first, then the types they are made of. */ -}}
{{- define "gvList" -}}
{{- range . -}}
{{- $gv := . -}}
{{- range $gv.SortedKinds }}{{ template "type" $gv.TypeForKind . }}{{ end -}}
{{- range $gv.SortedTypes }}{{ if not .GVK }}{{ template "type" . }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}
