import { Command } from 'commander';
import { API_VERSION } from '../schema/version.ts';
import { registerCommands } from './commands.ts';

const program = new Command('underround');
program.description(
  'Records prediction market order books, verifies them against the venue and serves them through an API.',
);
program.version(API_VERSION);
registerCommands(program);
await program.parseAsync();
