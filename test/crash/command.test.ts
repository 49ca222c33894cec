import { describe, expect, it } from 'vitest';
import { parseCrashCommand, UsageError } from './command.ts';

const parse = (text: string) => parseCrashCommand(text.split(' ').filter(Boolean));

describe('the arguments of the crash command', () => {
  it.each([
    ['webhooks', { kind: 'part', part: 'webhooks', kills: 1_000 }],
    ['paper 20', { kind: 'part', part: 'paper', kills: 20 }],
    ['--help', { kind: 'help' }],
    ['--fault kill --rounds 3 --seed x', { kind: 'fault', fault: 'kill', rounds: 3, seed: 'x' }],
    ['--fault kill', { fault: 'kill', rounds: 100, seed: '1', options: { density: 0.01, load: null } }],
    ['--fault kill --load 0', { options: { load: 0 } }],
    ['--fault disk-full --file-system ext4', { options: { fileSystem: 'ext4', seconds: null } }],
    ['--fault stall --seconds 20', { options: { seconds: 20 } }],
    ['--fault slow-disk', { rounds: 1, options: { seconds: 60 } }],
    ['--fault backup', { fault: 'backup', rounds: 50 }],
    ['--fault memory --seconds 5', { rounds: 3, options: { seconds: 5 } }],
    ['--fault starve', { options: { seconds: 180, percent: 20 } }],
  ])('reads %s', (text, expected) => {
    expect(parse(text)).toMatchObject(expected);
  });

  it.each([
    ['', 'name a part, or a fault by --fault'],
    ['webhook', 'the part must be webhooks, paper: webhook'],
    ['webhooks many', 'the number of kills must be a whole number from 1 to 100000: many'],
    ['webhooks 0', 'the number of kills must be a whole number from 1 to 100000: 0'],
    ['webhooks 1.5', 'the number of kills must be a whole number from 1 to 100000: 1.5'],
    ['webhooks 1 2', 'nothing follows the number of kills: 2'],
    ['webhooks --rounds 3', '--rounds is for --fault, not for webhooks'],
    [
      '--fault fire',
      '--fault must be kill, disk-full, slow-disk, power, stall, starve, descriptors, memory, cluster, backup, restore, migration, backup-truth: fire',
    ],
    ['--fault kill webhooks', '--fault takes no further word: webhooks'],
    ['--fault kill --rounds 0', '--rounds must be a whole number from 1 to 100000: 0'],
    ['--fault kill --rounds x', '--rounds must be a whole number from 1 to 100000: x'],
    ['--fault kill --percent 5', '--percent is for starve, not for kill'],
    ['--fault stall --load 5', '--load is for kill, not for stall'],
    ['--fault stall --file-system tmpfs', '--file-system is for disk-full, not for stall'],
    ['--fault disk-full --file-system zfs', '--file-system must be tmpfs, ext4: zfs'],
    ['--fault stall --density 2', '--density must be a number from 0.001 to 1: 2'],
  ])('refuses %s', (text, message) => {
    expect(() => parse(text)).toThrow(new UsageError(message));
  });

  it('names an option that does not exist', () => {
    expect(() => parse('--fault kill --round 3')).toThrow(/Unknown option '--round'/);
  });
});
