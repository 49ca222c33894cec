import { readFile } from 'node:fs/promises';
import { isIPv4, type Socket } from 'node:net';

/** Bytes per connection that the kernel accepted and the peer has not acknowledged; unknown connections are omitted. */
export type Unacknowledged<C> = (connections: readonly C[]) => Promise<ReadonlyMap<C, number>>;

/** Linux lists its connections in these tables, for IPv4 and IPv6. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const [LOCAL, REMOTE, QUEUES] = [1, 2, 4];

/**
 * Reads Linux's tables; on other systems nothing is known. The kernel accepts megabytes ahead of a client and in large
 * steps, so accepted bytes say little about the bytes that a slow client has read.
 */
export async function unacknowledgedBytes<C>(
  connections: readonly C[],
  socketOf: (connection: C) => Socket,
): Promise<ReadonlyMap<C, number>> {
  const wanted = new Map<string, C>();
  for (const connection of connections) {
    for (const name of namesOf(socketOf(connection))) wanted.set(name, connection);
  }
  const found = new Map<C, number>();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const line of text.split('\n')) {
      const columns = line.trim().split(/\s+/);
      const connection = wanted.get(`${columns[LOCAL]} ${columns[REMOTE]}`);
      if (connection !== undefined) found.set(connection, Number.parseInt(columns[QUEUES] ?? '0', 16));
    }
  }
  return found;
}

/** A connection's name in the tables: both ends in hexadecimal. IPv4 over an IPv6 socket may be in either table. */
function namesOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string[] {
  if (!localAddress || !remoteAddress || localPort === undefined || remotePort === undefined) return [];
  const locals = wordsOf(localAddress);
  return wordsOf(remoteAddress).map(
    (remote, index) => `${locals[index]}:${hexPort(localPort)} ${remote}:${hexPort(remotePort)}`,
  );
}

const hexPort = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
const V4_IN_V6 = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);

/** An address in each notation of the tables, IPv6 last. */
function wordsOf(address: string): string[] {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(plain)) {
    const bytes = Buffer.from(plain.split('.').map(Number));
    return [hexWords(bytes), hexWords(Buffer.concat([V4_IN_V6, bytes]))];
  }
  return [hexWords(bytesOfV6(plain))];
}

function bytesOfV6(address: string): Buffer {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail ?? '')];
  const bytes = Buffer.alloc(16);
  first.forEach((group, index) => void bytes.writeUInt16BE(group, index * 2));
  last.forEach((group, index) => void bytes.writeUInt16BE(group, 16 - (last.length - index) * 2));
  return bytes;
}

/** The kernel prints four-byte words in the byte order of the processor; only little-endian is supported. */
function hexWords(bytes: Buffer): string {
  return Buffer.from(bytes).swap32().toString('hex').toUpperCase();
}
