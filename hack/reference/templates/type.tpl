{{- define "type" -}}
{{- if markdownShouldRenderType . }}
## {{ .Name }}

{{ template "text" .Doc }}
{{ if .Members }}
| field | type | default | rules | meaning |
|---|---|---|---|---|
{{ if .GVK -}}
| `apiVersion` | string | | required | `{{ .GVK.Group }}/{{ .GVK.Version }}` |
| `kind` | string | | required | `{{ .GVK.Kind }}` |
{{ end -}}
{{ range .Members -}}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ with .Default }}`{{ . }}`{{ end }} | {{ if has "Optional: {}" .Validation }}optional{{ else if not $.GVK }}required{{ end -}}
{{ range .Validation }}{{ if not (or (eq . "Optional: {}") (eq . "Required: {}") (hasPrefix "Enum:" .)) }}; {{ markdownRenderFieldDoc . }}{{ end }}{{ end }} | {{ if eq .Name "metadata" }}As in every object of Kubernetes.{{ else }}{{ template "text" (.Doc | default .Type.Doc) }}{{ end }} |
{{ end -}}
{{ end -}}
{{ if .EnumValues }}
| value | meaning |
|---|---|
{{ range .EnumValues -}}
| `{{ .Name }}` | {{ template "text" .Doc }} |
{{ end -}}
{{ end -}}
{{ end -}}
{{ end -}}

{{- /* A comment is one line of a table, without its rows of other tables; what Markdown would take for markup is text. */ -}}
{{- define "text" -}}
{{ regexReplaceAll "\\s+" (splitList "+reference=" . | first) " " | replace "<" "&lt;" | replace "[" "\\[" | replace "_" "\\_" | replace "*" "\\*" | trim | markdownRenderFieldDoc }}
{{- end -}}
