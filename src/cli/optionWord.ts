/** The word of an option on the command line: `--market-id` of `marketId`. */
export function optionWord(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
