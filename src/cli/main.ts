import { Command } from 'commander';
import { API_VERSION } from '../schema/version.ts';
import { registerCommands } from './commands.ts';
import { watchOutput, writeWholly } from './standardOutput.ts';

const program = new Command('underround');
program.description(
  'Records prediction market order books, verifies them against the venue and serves them through an API.',
);
program.version(API_VERSION);
registerCommands(program);
// Notices may go to a full disk, or to a pipe that nobody reads any more: no reason to fail.
process.stderr.on('error', () => undefined);
writeWholly(process.stdout, process.stdout.fd);
watchOutput();
await program.parseAsync();
