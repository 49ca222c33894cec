import { systemReason } from '../runtime/systemReason.ts';

/**
 * The result of a read; an error names the file. The system's own error of a read that fails after the file was opened
 * has no path.
 */
export async function namedRead<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${systemReason(cause)}`, { cause });
  }
}
