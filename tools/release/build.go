package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binary is the gateway for one platform, and what is linked into it.
type binary struct {
	content []byte
	info    *buildinfo.BuildInfo
}

// files returns what the archive of a platform holds.
func (r *release) files(ctx context.Context, platform string) ([]file, error) {
	built, err := r.build(ctx, platform)
	if err != nil {
		return nil, err
	}
	bill, err := bom(r, platform, built.info)
	if err != nil {
		return nil, err
	}
	files := []file{{"octet", 0o755, built.content}, {"sbom.cdx.json", 0o644, bill}}
	for name, from := range map[string]string{"LICENSE": "LICENSE", "README.md": "README.md",
		"reference.yaml": "config/reference.yaml", "octet.service": "deploy/octet.service"} {
		content, err := os.ReadFile(filepath.Join(r.root, from))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, content})
	}
	texts, err := r.licences(ctx, platform)
	return append(files, texts...), err
}

// build returns the gateway, built for a platform without C.
func (r *release) build(ctx context.Context, platform string) (*binary, error) {
	folder, err := os.MkdirTemp("", "octet-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "octet")
	set := fmt.Sprintf("-s -w -buildid= -X octet/cmd.version=%s -X octet/cmd.commit=%s -X octet/cmd.buildRef=release",
		r.version, r.commit)
	if _, err := r.run(ctx, platform, "build", "-trimpath", "-buildvcs=false", "-pgo="+r.pgo, "-ldflags", set,
		"-o", path, "."); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("reading what was linked: %w", err)
	}
	return &binary{content, info}, nil
}

// run returns what a go command prints for a platform. What the environment says of flags does not count.
func (r *release) run(ctx context.Context, platform string, args ...string) (string, error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("%q is not GOOS/GOARCH", platform)
	}
	path, err := filepath.Abs(r.root)
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = path
	c.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=",
		"GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off")
	var failed bytes.Buffer
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, failed.Bytes())
	}
	return string(out), nil
}
