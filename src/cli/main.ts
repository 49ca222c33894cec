import { Command } from 'commander';
import { registerDemo } from './demo.ts';
import { registerImport } from './import.ts';
import { registerKeys } from './keys.ts';
import { registerServe } from './serve.ts';
import { registerUsers } from './users.ts';

const program = new Command('underround');
program.description('Records order books of prediction markets, proves what it recorded, and serves it.');
registerDemo(program);
registerServe(program);
registerImport(program);
registerKeys(program);
registerUsers(program);
await program.parseAsync();
