import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { beforeEach, expect, test, vi } from 'vitest';
import { unacknowledgedBytes } from './unacknowledged.ts';

vi.mock('node:fs/promises', () => ({ readFile: vi.fn() }));

const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt';
const line = (local: string, remote: string, sent: string) =>
  `   0: ${local} ${remote} 01 ${sent}:0000ABCD 01:00000014 00000000 0 0 1 2`;

/** The kernel's tables; null: the table does not exist. */
let tables: Record<string, string[] | null>;
beforeEach(() => {
  tables = { '/proc/net/tcp': [], '/proc/net/tcp6': [] };
  vi.mocked(readFile).mockImplementation(async (path) => {
    const lines = tables[String(path)] ?? null;
    if (lines === null) throw new Error('ENOENT');
    return [HEADER, ...lines, ''].join('\n');
  });
});

type Ends = readonly [localAddress: string, localPort: number, remoteAddress: string, remotePort: number];
const read = async (...connections: readonly Ends[]) => {
  const socketOf = ([localAddress, localPort, remoteAddress, remotePort]: Ends) =>
    ({ localAddress, localPort, remoteAddress, remotePort }) as Socket;
  const found = await unacknowledgedBytes(connections, socketOf);
  return connections.map((connection) => found.get(connection));
};

test('bytes sent and not acknowledged, in hexadecimal, by both ends of a connection', async () => {
  tables['/proc/net/tcp'] = [
    line('0100007F:0050', '0100007F:C001', '00000000'),
    line('0100007F:0050', '0100007F:C000', '00010010'),
    line('0200007F:0050', '0100007F:C000', '00000001'),
  ];
  const ends = ['127.0.0.1', 80, '127.0.0.1', 0xc000] as const;
  expect(await read(ends, ['127.0.0.1', 80, '127.0.0.1', 0xc002])).toEqual([0x10010, undefined]);
});

test('an IPv4 connection over an IPv6 socket is found in either table', async () => {
  const ends = ['::ffff:127.0.0.1', 80, '::ffff:127.0.0.2', 1] as const;
  tables['/proc/net/tcp'] = [line('0100007F:0050', '0200007F:0001', '00000007')];
  expect(await read(ends)).toEqual([7]);
  tables['/proc/net/tcp'] = null;
  const mapped = '0000000000000000FFFF0000';
  tables['/proc/net/tcp6'] = [line(`${mapped}0100007F:0050`, `${mapped}0200007F:0001`, '00000008')];
  expect(await read(ends)).toEqual([8]);
});

test('IPv6 addresses in their short forms, with a zone', async () => {
  tables['/proc/net/tcp6'] = [
    line('000080FE000000000000000001000000:0050', 'B80D0120000000000000000002000000:0001', '00000005'),
    line('00000000000000000000000001000000:0050', '00000000000000000000000001000000:0001', '00000006'),
  ];
  expect(await read(['fe80::1%eth0', 80, '2001:db8::2', 1], ['::1', 80, '::1', 1])).toEqual([5, 6]);
});

test('without tables, and of a closed connection, nothing is known', async () => {
  expect(await read(['', 80, '127.0.0.1', 1])).toEqual([undefined]);
  tables = {};
  expect(await read(['127.0.0.1', 80, '127.0.0.1', 1])).toEqual([undefined]);
});
