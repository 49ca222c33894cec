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

describe('UNDERROUND_PUBLIC_HOST', () => {
  const read = (text: string) => loadConfig({ UNDERROUND_PUBLIC_HOST: text }).publicHosts;

  test.each([
    ['', []],
    ['books.example.com', ['books.example.com']],
    ['books.example.com, Recorder_1', ['books.example.com', 'Recorder_1']],
  ])('%j is read', (text, names) => {
    expect(read(text)).toEqual(names);
  });

  test.each(['a:8080', 'https://a', 'a,', '*.a', '.a', 'a..b', '[::1]', 'a b'])('%j is refused', (text) => {
    const line = 'configuration: UNDERROUND_PUBLIC_HOST must be host names without ports';
    expect(() => read(text)).toThrow(new ConfigError(line));
  });
});

describe('UNDERROUND_DISK_RESERVE', () => {
  const read = (text: string) => loadConfig({ UNDERROUND_DISK_RESERVE: text }).diskReserve;

  test.each([
    ['8MiB', { bytes: 8_388_608 }],
    ['1.5GiB', { bytes: 1_610_612_736 }],
    ['512KiB', { bytes: 524_288 }],
    ['1TiB', { bytes: 1_099_511_627_776 }],
    ['5%', { share: 0.05 }],
    ['0.5%', { share: 0.005 }],
    ['50%', { share: 0.5 }],
    ['', null],
  ])('%j is read', (text, reserve) => {
    expect(read(text)).toEqual(reserve);
  });

  test.each(['8', '8MB', '0MiB', '-1GiB', '51%', '0%', '8 MiB', 'MiB', 'off'])(
    '%j is refused by its name',
    (text) => {
      expect(() => read(text)).toThrow(
        new ConfigError(
          'configuration: UNDERROUND_DISK_RESERVE must be a size such as 8MiB or 2GiB, or a share of the disk of at most 50%',
        ),
      );
    },
  );
});
