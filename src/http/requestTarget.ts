const SLASH = 0x2f;
/** A proxy's way to ask (RFC 9112, 3.2.2): the whole address. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/**
 * A request's target as the router can read it, whatever was sent: a path with its query. What the router cannot read
 * it answers without a single hook: no key is asked for, and the answer carries nothing of what every answer does.
 * In a path with a broken escape each `%` stands for itself.
 */
export function readableTarget(target: string): string {
  const rooted = target.charCodeAt(0) === SLASH ? target : withRoot(target.replace(ORIGIN, ''));
  if (!rooted.includes('%')) return rooted;
  const queryAt = rooted.indexOf('?');
  const path = queryAt < 0 ? rooted : rooted.slice(0, queryAt);
  if (isDecodable(path)) return rooted;
  return path.replaceAll('%', '%25') + rooted.slice(path.length);
}

function withRoot(rest: string): string {
  return rest.charCodeAt(0) === SLASH ? rest : `/${rest}`;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
