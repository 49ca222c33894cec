import type { Command } from 'commander';
import { registerAudit } from './audit.ts';
import { registerBacktest } from './backtest.ts';
import { registerBackup } from './backup.ts';
import { registerCompare } from './compare.ts';
import { registerDemo } from './demo.ts';
import { registerDoctor } from './doctor.ts';
import { registerExport } from './export.ts';
import { registerImport } from './import.ts';
import { registerKeys } from './keys.ts';
import { registerMaintenance } from './maintenance.ts';
import { registerMcp } from './mcp.ts';
import { registerMigrate } from './migrate.ts';
import { registerPaper } from './paper.ts';
import { registerReplay } from './replay.ts';
import { registerServe } from './serve.ts';
import { registerStore } from './store.ts';
import { registerUsers } from './users.ts';
import { registerVerify } from './verify.ts';
import { registerWebhooks } from './webhooks.ts';

const SETTINGS_HELP = `
Settings are environment variables (UNDERROUND_...); docs/CONFIGURATION.md lists them all. Every command that
uses a data directory checks all of them before it starts, and prints the directory on standard error.`;

/** Adds every command of `underround`. */
export function registerCommands(program: Command): void {
  registerDemo(program);
  registerServe(program);
  registerStore(program);
  registerImport(program);
  registerExport(program);
  registerVerify(program);
  registerReplay(program);
  registerMcp(program);
  registerBacktest(program);
  registerCompare(program);
  registerPaper(program);
  registerKeys(program);
  registerUsers(program);
  registerWebhooks(program);
  registerMaintenance(program);
  registerAudit(program);
  registerDoctor(program);
  registerBackup(program);
  registerMigrate(program);
  program.addHelpText('after', SETTINGS_HELP);
  nameUsage(program, program.name());
}

/** An unknown command or option is one line, which names the help of the command at fault. */
function nameUsage(command: Command, path: string): void {
  command.configureOutput({
    outputError: (text, write) => write(`underround: ${oneLine(text)}; \`${path} --help\` shows the usage\n`),
  });
  for (const child of command.commands) nameUsage(child, `${path} ${child.name()}`);
}

const oneLine = (text: string) =>
  text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
