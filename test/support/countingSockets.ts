import { DirectSocketDriver } from '../../src/venues/venueSocket.ts';

/** Counts attempts to connect when they begin: a venue sees a connection only later. */
export class CountingSocketDriver extends DirectSocketDriver {
  attempts = 0;

  override connect(...options: Parameters<DirectSocketDriver['connect']>) {
    this.attempts++;
    return super.connect(...options);
  }
}
