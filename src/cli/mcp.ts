import type { Command } from 'commander';

const HELP = `
The server reads the service of UNDERROUND_URL with the key of UNDERROUND_API_KEY. Its tools only read, unless
--allow-write adds the one that runs backtests. docs/MCP.md shows how to add it to a host.`;

/** `underround mcp`: an MCP server for language models, over standard streams or HTTP. */
export function registerMcp(program: Command): void {
  program
    .command('mcp')
    .description('serve the recording to language models (Model Context Protocol)')
    .option('--http <port>', 'serve streamable HTTP at http://127.0.0.1:PORT/mcp instead of standard streams')
    .option('--allow-write', 'also offer the tool that runs backtests')
    .option('--url <url>', 'service to read (UNDERROUND_URL)')
    .addHelpText('after', HELP)
    .action(async (options: { http?: string; allowWrite?: boolean; url?: string }) => {
      const { runMcp } = await import('./runMcp.ts');
      await runMcp(options);
    });
}
