/** Prints a line for whoever started the process, on standard error: standard output belongs to the command. */
export function printNotice(line: string): void {
  process.stderr.write(`underround: ${line}\n`);
}
