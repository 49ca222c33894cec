import { Command } from 'commander';
import { API_VERSION } from '../schema/version.ts';
import { registerCommands } from './commands.ts';

const program = new Command('underround');
program.description('Records order books of prediction markets, proves what it recorded, and serves it.');
program.version(API_VERSION);
registerCommands(program);
await program.parseAsync();
