package dirlock

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNetworkFSOfAFolderNotYetThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if name, network, err := NetworkFS(dir); name != "" || network || err != nil {
		t.Errorf("NetworkFS = %q, %t, %v, want a local one", name, network, err)
	}
	if name, _, err := NetworkFS("/proc"); name != "" || err != nil {
		t.Errorf("NetworkFS(/proc) = %q, %v", name, err)
	}
}

func TestFSName(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x5346414f: "afs", 0x6b414653: "afs",
		0x00c36400: "ceph", 0x01021997: "9p", 0x0bd00bd0: "lustre", 0x65735546: fuse,
		unix.EXT4_SUPER_MAGIC: "", unix.XFS_SUPER_MAGIC: "", unix.BTRFS_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.OVERLAYFS_SUPER_MAGIC: "",
	} {
		if got := fsName(magic); got != want {
			t.Errorf("fsName(%#x) = %q, want %q", magic, got, want)
		}
	}
}
