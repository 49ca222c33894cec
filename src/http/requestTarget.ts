const SLASH = 0x2f;
/** The absolute form that proxies use (RFC 9112, 3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/**
 * Converts any request target into a path with query that the router can parse. The router answers an unparsable target
 * without running hooks, so without asking for a key and without our response headers. In a path with a broken escape
 * each `%` is taken literally.
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
