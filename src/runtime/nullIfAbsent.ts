/**
 * The result of an access to a file or directory; null where there is none. A damaged disk, a missing permission or a
 * limit of descriptors does not mean that a file is absent.
 * @throws The system's error for every other reason.
 */
export async function nullIfAbsent<T>(access: Promise<T>): Promise<T | null> {
  try {
    return await access;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
