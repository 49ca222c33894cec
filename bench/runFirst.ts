import { setPriority } from 'node:os';

const PRIORITY = -10;

/**
 * Has the system run the calling thread before the service's. Venues and clients have machines of their own elsewhere:
 * their waiting for a processor must not count as the service's. Without the right to do so everything stays as it is.
 */
export function runFirst(): void {
  try {
    // On Linux 0 is the calling thread alone.
    setPriority(0, PRIORITY);
  } catch {
    // Only root may; the bench reports how late the venues were.
  }
}
