// Command release builds the gateway for each platform into an archive with its licences and its bill of materials.
// The same commit, toolchain and version give the same bytes, in whichever folder and at whichever time.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is what all platforms have in common.
type release struct {
	root            string // the repository
	out             string // where the archives go
	version, commit string
	at              time.Time // of the commit: of every file, and of the bill of materials
	pgo             string    // auto | off
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var r release
	var epoch int64
	platforms := flag.String("platforms", "linux/amd64 linux/arm64 darwin/arm64", "what to build, GOOS/GOARCH")
	flag.StringVar(&r.root, "root", "../..", "the repository")
	flag.StringVar(&r.out, "out", "../../.cache/release", "the folder of the archives; emptied")
	flag.StringVar(&r.version, "version", "dev", "of the release")
	flag.StringVar(&r.commit, "commit", "unknown", "that is built")
	flag.Int64Var(&epoch, "epoch", 0, "the commit's time in seconds")
	flag.StringVar(&r.pgo, "pgo", "auto", "auto: laid out by default.pgo | off")
	tree := flag.String("tree", "", "write the files of the one platform here, and no archive")
	flag.Parse()
	r.at = time.Unix(epoch, 0).UTC()
	all := strings.Fields(*platforms)
	if *tree != "" {
		return r.plant(ctx, all[0], *tree)
	}
	return r.archives(ctx, all)
}

// archives makes out anew: an archive for each platform, and SHA256SUMS.
func (r *release) archives(ctx context.Context, platforms []string) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	var sums []string
	for _, platform := range platforms {
		files, err := r.files(ctx, platform)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		name := fmt.Sprintf("octet-%s-%s", r.version, strings.ReplaceAll(platform, "/", "-"))
		packed, err := pack(name, files, r.at)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		if err := os.WriteFile(filepath.Join(r.out, name+".tar.gz"), packed, 0o644); err != nil {
			return err
		}
		sums = append(sums, fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(packed), name))
		fmt.Fprintf(os.Stderr, "%s.tar.gz: %d bytes, %d files\n", name, len(packed), len(files))
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// plant writes the files of one platform below a folder.
func (r *release) plant(ctx context.Context, platform, folder string) error {
	files, err := r.files(ctx, platform)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(folder, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, f.mode); err != nil {
			return err
		}
	}
	return nil
}
