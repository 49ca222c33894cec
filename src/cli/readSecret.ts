/** Longer than any password. */
const MAX_CHARACTERS = 4_096;

/**
 * Reads one line of standard input, without its line ending. A secret is never an argument: other users of the machine
 * can see arguments, and shells store them. On a terminal, asks for the line and does not echo it.
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

/** Reads typed characters up to Enter; Backspace removes one, Ctrl-C cancels. */
async function typed(stdin: NodeJS.ReadStream): Promise<string> {
  stdin.setEncoding('utf8');
  const characters: string[] = [];
  for await (const chunk of stdin) {
    for (const character of String(chunk)) {
      if (character === '\r' || character === '\n') return characters.join('');
      if (character === '\u0003') throw new Error('cancelled');
      if (character === '\u007f' || character === '\b') characters.pop();
      else if (characters.length < MAX_CHARACTERS) characters.push(character);
    }
  }
  return characters.join('');
}
