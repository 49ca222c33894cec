import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { ConfigError } from '../errors.ts';
import { checkAddress } from './checkAddress.ts';

it('names the address that is taken, and leaves a free one free', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  const address = { host: '127.0.0.1', port };
  await expect(checkAddress(address)).rejects.toThrow(
    new ConfigError(
      `listen EADDRINUSE: address already in use 127.0.0.1:${port}; set UNDERROUND_HOST or UNDERROUND_PORT`,
    ),
  );
  await new Promise((resolve) => holder.close(resolve));
  await checkAddress(address);
  await checkAddress(address);
});
