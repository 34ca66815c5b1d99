{{- define "octet.name" -}}
{{- if contains "octet" .Release.Name }}{{ .Release.Name }}{{ else }}{{ printf "%s-octet" .Release.Name }}{{ end }}
{{- end }}

{{- define "octet.selector" -}}
app.kubernetes.io/name: octet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "octet.labels" -}}
{{ include "octet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "octet.account" -}}
{{- .Values.serviceAccount.name | default (include "octet.name" .) }}
{{- end }}

{{- define "octet.secret" -}}
{{- if .Values.secret.create }}{{ include "octet.name" . }}
{{- else }}{{ required "secret.existing names the Secret with OCTET_ADMIN_TOKEN; or set secret.create" .Values.secret.existing }}
{{- end }}
{{- end }}

{{- /* What the chart says of octet.yaml, over what config says. */ -}}
{{- define "octet.config" -}}
{{- $listen := dict "data" ":8080" "admin" ":8081" }}
{{- if .Values.tls.secret }}
{{- $tls := dict "cert" "/etc/octet-tls/data/tls.crt" "key" "/etc/octet-tls/data/tls.key" }}
{{- if .Values.tls.clientCA }}{{ $_ := set $tls "client_ca" "/etc/octet-tls/data/ca.crt" }}{{ end }}
{{- $_ := set $listen "tls" $tls }}
{{- end }}
{{- if .Values.adminTLS.secret }}
{{- $_ := set $listen "admin_tls" (dict "cert" "/etc/octet-tls/admin/tls.crt" "key" "/etc/octet-tls/admin/tls.key") }}
{{- end }}
{{- $ours := dict "listen" $listen "admin" (dict "token" "${OCTET_ADMIN_TOKEN}")
  "limits" (dict "drain" (printf "%ds" (int .Values.shutdown.drain)) "stop" (printf "%ds" (int .Values.shutdown.stop))) }}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $ours) }}
{{- end }}
