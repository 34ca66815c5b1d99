package main

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

func TestAnArchiveDependsOnItsFilesAndTimeAlone(t *testing.T) {
	files := []file{{"b", 0o644, []byte("2")}, {"a", 0o755, []byte("1")}}
	at := time.Unix(1e9, 0)
	one, err := pack("octet-1", files, at)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	two, err := pack("octet-1", files, at.UTC())
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("another order gives other bytes: %v", err)
	}
	if later, _ := pack("octet-1", files, at.Add(time.Second)); bytes.Equal(one, later) {
		t.Error("the time is not in it")
	}
}

func TestAModuleWithoutALicenceIsAnError(t *testing.T) {
	folder := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("license.go")
	write("README")
	if _, err := licencesOf(folder, "x"); err == nil {
		t.Error("none is needed")
	}
	write("LICENSE-MIT")
	write("NOTICE.txt")
	write("Copying")
	all, err := licencesOf(folder, "licences/m@v1")
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	if got := strings.Join(names, " "); err != nil ||
		got != "licences/m@v1/Copying licences/m@v1/LICENSE-MIT licences/m@v1/NOTICE.txt" {
		t.Errorf("%v: %s", err, got)
	}
}

func TestTheBillNamesWhatIsLinked(t *testing.T) {
	r := &release{version: "1.2.3", commit: "abc", at: time.Unix(1e9, 0).UTC()}
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.com/z", Version: "v1.0.0", Sum: "h1:z"},
		{Path: "example.com/a", Version: "v2.0.0", Replace: &debug.Module{Path: "example.com/b", Version: "v3.0.0"}},
	}}
	text, err := bom(r, "linux/arm64", info)
	if err != nil {
		t.Fatal(err)
	}
	var got cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&got); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, c := range *got.Components {
		urls = append(urls, c.PackageURL)
	}
	want := []string{"pkg:golang/example.com/b@v3.0.0?type=module&goos=linux&goarch=arm64",
		"pkg:golang/example.com/z@v1.0.0?type=module&goos=linux&goarch=arm64",
		"pkg:golang/std@1.26.8?type=module&goos=linux&goarch=arm64"}
	if !slices.Equal(urls, want) || got.Metadata.Component.Version != "1.2.3" {
		t.Errorf("%q", urls)
	}
}
