//go:build amd64 || arm64

package verify

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// devices are those that programs take for granted and that hold nothing.
var devices = []string{"/dev/null", "/dev/zero", "/dev/urandom"}

// part is a piece of the host's file system that is seen in the cage.
type part struct {
	path string
	link string // target of a symbolic link, or ""
	tree int    // a detached mount
	dir  bool
}

// build makes a file system in memory, of a bounded size, the only one there is: with c's parts of the host, read-only,
// and the working directory with the code.
func (c cage) build(code []byte) error {
	// without /proc the filter of system calls does alone
	_ = os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	parts, err := c.parts()
	if err != nil {
		return err
	}
	root := ""
	for _, p := range parts {
		if p.dir {
			root = p.path // any directory does: what is mounted there is seen by the cage alone
		}
	}
	size := fmt.Sprintf("size=%d,nr_inodes=%d,mode=755", c.Scratch, mostInodes)
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, size); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	for _, p := range parts {
		if err := p.attach(root); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	if err := c.writeCode(root, code); err != nil {
		return err
	}
	return enter(root)
}

// mostInodes bounds the files that a command may make.
const mostInodes = 4096

// parts takes hold of what is seen in the cage while the host's file system is still there.
func (c cage) parts() (all []part, err error) {
	for _, path := range append(append([]string{}, c.Paths...), devices...) {
		p, err := take(path)
		switch {
		case os.IsNotExist(err):
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		default:
			all = append(all, p)
		}
	}
	return all, nil
}

func take(path string) (p part, err error) {
	p.path = filepath.Clean(path)
	info, err := os.Lstat(p.path)
	if err != nil {
		return p, err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		p.link, err = os.Readlink(p.path)
		return p, err
	}
	p.dir = info.IsDir()
	if p.tree, err = unix.OpenTree(unix.AT_FDCWD, p.path,
		unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE); err != nil {
		return p, err
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if info.Mode()&os.ModeDevice != 0 {
		attr.Attr_set = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
	}
	return p, unix.MountSetattr(p.tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr)
}

// attach puts p where it was, below root.
func (p part) attach(root string) error {
	at := filepath.Join(root, p.path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	switch {
	case p.link != "":
		return os.Symlink(p.link, at)
	case p.dir:
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
	default:
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			return err
		}
	}
	return unix.MoveMount(p.tree, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// writeCode makes the working directory, the command's own, and the file that it is run on.
func (c cage) writeCode(root string, code []byte) error {
	dir := filepath.Join(root, insideDir)
	file := filepath.Join(dir, filepath.Base(c.File))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, code, 0o600); err != nil {
		return err
	}
	if err := os.Symlink(insideDir, filepath.Join(root, "tmp")); err != nil {
		return err
	}
	if !c.Own {
		return nil
	}
	for _, name := range []string{dir, file} {
		if err := os.Lchown(name, cagedUser, cagedUser); err != nil {
			return err
		}
	}
	return nil
}

// enter makes root the root, and lets go of the host's.
func enter(root string) error {
	old, err := unix.Open("/", unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot: %w", err)
	}
	if err := unix.Fchdir(old); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	if err := unix.Close(old); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("cage")); err != nil {
		return err
	}
	if err := unix.Chdir(insideDir); err != nil {
		return err
	}
	null, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Dup3(null, 0, 0)
}
