import { type AddressInfo, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { buildConnector } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WAIT_MS_MAX } from '../../../test/support/waitLimit.ts';
import { TargetRefusedError } from '../../runtime/errors.ts';
import { AddressPolicy } from './addresses.ts';
import { guardedConnector } from './connector.ts';
import { TargetGuard } from './target.ts';

const noIpv6 = !Object.values(networkInterfaces()).some((own) =>
  own?.some(({ address }) => address === '::1'),
);

function connector() {
  const lookedUp: string[] = [];
  const guard = new TargetGuard(new AddressPolicy([]), async (host) => {
    lookedUp.push(host);
    return ['10.0.0.7'];
  });
  const connect = guardedConnector(guard, { timeoutMs: 5_000 });
  const ask = (hostname: string) =>
    new Promise<Error | null>((resolve) => {
      const options = { hostname, host: hostname, protocol: 'https:', port: '443' };
      connect(options as buildConnector.Options, (...[error]) => resolve(error));
    });
  return { lookedUp, ask };
}

describe('connections', () => {
  it('begin four per turn at most, in order, and none in the turn of the request', async () => {
    const { lookedUp, ask } = connector();
    const names = Array.from({ length: 12 }, (_, n) => `h${n}.example`);
    const refused = names.map(ask);
    const begun: number[] = [];
    while (lookedUp.length < names.length) {
      begun.push(lookedUp.length);
      await nextTurn();
    }
    begun.push(lookedUp.length);
    expect(begun.slice(0, 2)).toEqual([0, 0]);
    expect(begun.every((count, turn) => count <= (begun[turn - 1] ?? 0) + 4)).toBe(true);
    expect(lookedUp).toEqual(names);
    for (const [n, error] of (await Promise.all(refused)).entries()) {
      const reason = `the host ${names[n]} leads to an address that is private`;
      expect(error).toEqual(new TargetRefusedError(reason));
    }
    expect(await ask('later.example')).toBeInstanceOf(TargetRefusedError);
  });

  it.skipIf(noIpv6)('reach an address of IPv6 that a name leads to', async () => {
    const accepted: Socket[] = [];
    const server = createServer((socket) => accepted.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
    onTestFinished(() => {
      for (const socket of accepted) socket.destroy();
      server.close();
    });
    const guard = new TargetGuard(new AddressPolicy(['::1/128']), async () => ['::1']);
    const hostname = 'six.example';
    const port = String((server.address() as AddressInfo).port);
    const options = { hostname, host: hostname, protocol: 'http:', port } as buildConnector.Options;
    const connect = guardedConnector(guard, { timeoutMs: WAIT_MS_MAX });
    const reached = await new Promise((resolve) => {
      connect(options, (error, socket) => resolve(error ?? socket?.remoteFamily));
    });
    expect(reached).toBe('IPv6');
  });

  it('to an address are refused without a look-up', async () => {
    const { lookedUp, ask } = connector();
    expect(await ask('127.0.0.1')).toEqual(new TargetRefusedError('the address 127.0.0.1 is loopback'));
    expect(await ask('::1')).toEqual(new TargetRefusedError('the address ::1 is loopback'));
    expect(lookedUp).toEqual([]);
  });
});
