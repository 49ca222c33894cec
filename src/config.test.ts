import { describe, expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { ConfigError } from './errors.ts';

describe('UNDERROUND_METRICS_ADDRESS', () => {
  const read = (text: string) => loadConfig({ UNDERROUND_METRICS_ADDRESS: text }).metricsAddress;

  test.each([
    ['127.0.0.1:9100', { host: '127.0.0.1', port: 9100 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:9100', { host: '::1', port: 9100 }],
    ['', null],
  ])('%j is read', (text, address) => {
    expect(read(text)).toEqual(address);
  });

  test.each(['9100', '127.0.0.1', '127.0.0.1:', '::1:9100', 'http://127.0.0.1:9100'])(
    '%j is refused by its name',
    (text) => {
      expect(() => read(text)).toThrow(
        new ConfigError('configuration: UNDERROUND_METRICS_ADDRESS must be host:port'),
      );
    },
  );
});
