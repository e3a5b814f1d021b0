package dirlock

import "golang.org/x/sys/unix"

// NetworkFS names the file system that dir lies on, or would lie on, if it is
// one to beware of, and reports whether it is a network one. A FUSE file
// system is named "fuse" and not counted as one, for it may be local.
func NetworkFS(dir string) (name string, isNetwork bool, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(existing(dir), &stat); err != nil {
		return "", false, err
	}
	name = fsName(uint32(stat.Type))
	return name, name != "" && name != fuse, nil
}

// fsName names the magic numbers of statfs(2) that matter here; those without
// a constant in package unix are from the kernel's and Lustre's sources.
func fsName(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC:
		return "smb"
	case unix.CIFS_SUPER_MAGIC:
		return "cifs"
	case unix.SMB2_SUPER_MAGIC:
		return "smb2"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.NCP_SUPER_MAGIC:
		return "ncp"
	case 0x0bd00bd0:
		return "lustre"
	case unix.FUSE_SUPER_MAGIC:
		return fuse
	default:
		return ""
	}
}
