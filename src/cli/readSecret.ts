/** A longer line than any password. */
const MAX_CHARACTERS = 4_096;

/**
 * One line of standard input, without its end: never an argument, which other users of the machine can see and the
 * shell remembers. On a terminal it is asked for and not shown.
 */
export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return firstLine(stdin);
  stderr.write(question);
  stdin.setRawMode(true);
  try {
    return await typed(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

/** @param input Text or bytes of UTF-8. */
export async function firstLine(input: AsyncIterable<string | Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of input) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    if (text.includes('\n') || text.length > MAX_CHARACTERS) break;
  }
  return (text.split('\n', 1)[0] as string).replace(/\r$/, '');
}

/** What is typed up to Enter; Backspace takes one back, Ctrl-C gives up. */
async function typed(stdin: NodeJS.ReadStream): Promise<string> {
  stdin.setEncoding('utf8');
  const characters: string[] = [];
  for await (const chunk of stdin) {
    for (const character of String(chunk)) {
      if (character === '\r' || character === '\n') return characters.join('');
      if (character === '\u0003') throw new Error('given up');
      if (character === '\u007f' || character === '\b') characters.pop();
      else if (characters.length < MAX_CHARACTERS) characters.push(character);
    }
  }
  return characters.join('');
}
