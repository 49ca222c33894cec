/** Errors of the operating system by code, as a reader who knows no code understands them. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EISDIR: 'it is a directory, not a file',
  ENOTDIR: 'a part of this path is a file, not a directory',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: "this user's disk quota is used up",
  EIO: 'its disk fails',
  EMFILE: 'this process may open no further file (raise its limit of descriptors, `ulimit -n`)',
  ENFILE: 'this machine may open no further file (raise fs.file-max)',
  ENOMEM: 'there is no free memory',
};

/** Why a file could not be read or written, without its path; the message of any other error. */
export function systemReason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? (error instanceof Error ? error.message : String(error));
}
