/**
 * A program for `python3 -c`, with a mount point as its argument: an ext4 fails from now on, and what was not synced is
 * lost. Node has no `ioctl`; the number is EXT4_IOC_SHUTDOWN, the value EXT4_GOING_FLAGS_NOLOGFLUSH.
 */
export const SHUT_DOWN_EXT4 = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))
`;
