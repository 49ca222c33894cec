/** Whether an answer of HTTP has arrived completely. @param answer Its bytes so far, as latin1. */
export function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /content-length: (\d+)/i.exec(answer.slice(0, end))?.[1];
  return length === undefined ? answer.endsWith('\r\n0\r\n\r\n') : answer.length >= end + 4 + Number(length);
}
