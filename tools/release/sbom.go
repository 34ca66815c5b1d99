package main

import (
	"bytes"
	"debug/buildinfo"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// bom returns a platform's bill of materials in CycloneDX's JSON: what the linker says is in the binary.
func bom(r *release, platform string, info *buildinfo.BuildInfo) ([]byte, error) {
	system, arch, _ := strings.Cut(platform, "/")
	main := cyclonedx.Component{BOMRef: "octet", Type: cyclonedx.ComponentTypeApplication, Name: "octet",
		Version: r.version, Properties: &[]cyclonedx.Property{{Name: "octet:commit", Value: r.commit},
			{Name: "octet:platform", Value: platform}}}
	parts := []cyclonedx.Component{part("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = &debug.Module{Path: d.Replace.Path, Version: d.Replace.Version, Sum: d.Replace.Sum}
		}
		parts = append(parts, part(d.Path, d.Version, d.Sum))
	}
	slices.SortFunc(parts, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	var refs []string
	for i := range parts {
		parts[i].PackageURL += "?type=module&goos=" + system + "&goarch=" + arch
		refs = append(refs, parts[i].BOMRef)
	}
	bill := cyclonedx.NewBOM()
	bill.Metadata = &cyclonedx.Metadata{Timestamp: r.at.Format(time.RFC3339), Component: &main}
	bill.Components, bill.Dependencies = &parts, &[]cyclonedx.Dependency{{Ref: "octet", Dependencies: &refs}}
	var out bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
	return out.Bytes(), err
}

// part is one module; sum is that of go.sum, "" if there is none.
func part(path, version, sum string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version,
		PackageURL: url}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}
